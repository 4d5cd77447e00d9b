package rpc

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestLogRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d1.log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	chunk := bytes.Repeat([]byte("x"), maxLogBytes/2)
	chunk[len(chunk)-1] = '\n'
	for i := range 10 {
		chunk[0] = byte('0' + i)
		if _, err := l.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	firsts := map[string]byte{}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > maxLogBytes || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has %d bytes and mode %v", file, len(text), info.Mode())
		}
		firsts[filepath.Base(file)] = text[0]
	}
	if want := map[string]byte{"d1.log": '8', "d1.log.1": '6', "d1.log.2": '4'}; !reflect.DeepEqual(firsts, want) {
		t.Errorf("the logs begin with %v", firsts)
	}
}

func TestLogIsReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d1.log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := l.reopen(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); string(text) != "new\n" {
		t.Errorf("the new log holds %q (%v)", text, err)
	}
}

func TestLogTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d1.log")
	if lines, err := LogTail(path, 3); len(lines) != 0 || err != nil {
		t.Errorf("no log: %q, %v", lines, err)
	}
	long := append(bytes.Repeat([]byte("y"), tailBytes), "\none\n\ntwo\r\nthr\xffe"...)
	if err := os.WriteFile(path, long, 0o600); err != nil {
		t.Fatal(err)
	}
	if lines, err := LogTail(path, 5); err != nil || !reflect.DeepEqual(lines, []string{"one", "two", "thr?e"}) {
		t.Errorf("the last lines are %.80q, %v", lines, err)
	}
	if lines, _ := LogTail(path, 1); !reflect.DeepEqual(lines, []string{"thr?e"}) {
		t.Errorf("the last line is %q", lines)
	}
}
