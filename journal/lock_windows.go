package journal

import (
	"errors"
	"runtime"

	"golang.org/x/sys/windows"
)

// heldMutex is a named mutex. It belongs to the thread that took it, so one
// goroutine keeps that thread for as long as the mutex is held.
type heldMutex struct {
	end  chan struct{} // closed to release
	done chan struct{} // closed when released
}

// tryMutex takes a named mutex without waiting; nil where somebody else has it. One
// whose owner died counts as free: the journal says what was recorded.
func tryMutex(name string) (*heldMutex, error) {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	m := &heldMutex{end: make(chan struct{}), done: make(chan struct{})}
	taken := make(chan error)
	go m.hold(wide, taken)
	switch err := <-taken; {
	case err == nil:
		return m, nil
	case errors.Is(err, windows.WAIT_TIMEOUT):
		return nil, nil
	default:
		return nil, err
	}
}

func (m *heldMutex) hold(name *uint16, taken chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(m.done)
	handle, err := windows.CreateMutex(nil, false, name)
	if handle == 0 {
		taken <- err
		return
	}
	defer windows.CloseHandle(handle)
	event, err := windows.WaitForSingleObject(handle, 0)
	switch {
	case err != nil:
		taken <- err
		return
	case event == uint32(windows.WAIT_TIMEOUT):
		taken <- windows.WAIT_TIMEOUT
		return
	}
	taken <- nil
	<-m.end
	windows.ReleaseMutex(handle)
}

// release gives the mutex back and returns when it is free.
func (m *heldMutex) release() {
	close(m.end)
	<-m.done
}
