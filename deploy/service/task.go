package service

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"path/filepath"
	"unicode/utf16"
)

// taskName names the task in the user's part of the scheduler.
const taskName = `slipway-daemon`

//go:embed slipway.task.xml.in
var taskTemplate string

// task is a task of the Windows Task Scheduler that starts with the user's
// session. A service of Windows would need an administrator, and would not be one
// daemon per user.
func (o Options) task() (service, error) {
	local, err := o.folder("LOCALAPPDATA", "AppData", "Local")
	if err != nil {
		return service{}, err
	}
	path := filepath.Join(local, "slipway", "task.xml")
	text := render(taskTemplate, map[string]string{"Mark": mark, "Program": escapeXML(o.Program)})
	content := append([]byte{0xff, 0xfe}, utf16LE(string(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))))...)
	return service{
		manager: "task-scheduler",
		files:   []file{{path, content}},
		activate: []command{
			{"schtasks", "/Create", "/TN", taskName, "/XML", path, "/F"},
			{"schtasks", "/Run", "/TN", taskName},
		},
		deactivate: []command{{"schtasks", "/End", "/TN", taskName}, {"schtasks", "/Delete", "/TN", taskName, "/F"}},
		byHand:     `schtasks /Create /TN ` + taskName + ` /XML "` + path + `" /F`,
	}, nil
}

// utf16LE is the encoding that the scheduler reads.
func utf16LE(text string) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune(text))) // a buffer takes everything
	return b.Bytes()
}
