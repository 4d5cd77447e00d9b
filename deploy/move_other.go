//go:build !linux && !darwin && !windows

package deploy

import (
	"errors"
	"os"
)

// These systems have no rename that is sure not to replace anything.

func moveExclusive(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

func exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
