package journal

import (
	"strings"
	"sync"

	"golang.org/x/sys/windows"
)

// ownerOnly is the access list that takes the place of the modes: the user who
// runs this process, and nobody else; nothing is inherited from above.
var ownerOnly = sync.OnceValues(func() (*windows.SECURITY_DESCRIPTOR, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return windows.SecurityDescriptorFromString("D:P(A;;FA;;;" + user.User.Sid.String() + ")")
})

// secure gives an open object that access list where it has another. It closes the
// handle where that fails.
func secure(handle windows.Handle) error {
	err := setOwnerOnly(handle)
	if err != nil {
		windows.CloseHandle(handle)
	}
	return err
}

func setOwnerOnly(handle windows.Handle) error {
	want, err := ownerOnly()
	if err != nil {
		return err
	}
	have, err := windows.GetSecurityInfo(handle, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	// The control flags of what is stored may differ; the entries count.
	if accessEntries(have) == accessEntries(want) {
		return nil
	}
	list, _, err := want.DACL()
	if err != nil {
		return err
	}
	return windows.SetSecurityInfo(handle, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

// accessEntries is the list part of a descriptor's text form, with a mark where
// the list takes nothing from above.
func accessEntries(sd *windows.SECURITY_DESCRIPTOR) string {
	flags, entries, _ := strings.Cut(sd.String(), "(")
	if strings.Contains(flags, "P") {
		return "P" + entries
	}
	return entries
}
