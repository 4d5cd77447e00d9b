package deploy

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"slipway/schema"
)

// childRoot names the worktree in which this test program installs and uninstalls
// until it is killed, in place of running tests.
const childRoot = "SLIPWAY_DEPLOY_TEST_CHILD"

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		installForEver(root)
	}
	// The tests make many small files; none is meant to last.
	if info, err := os.Stat("/dev/shm"); runtime.GOOS == "linux" && os.Getenv("TMPDIR") == "" && err == nil && info.IsDir() {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

// installForEver goes round and tells on stdout when a round begins.
func installForEver(root string) {
	ws := schema.NewWorkspaceIdentity(root, root+"/.git", root+"/.git")
	named := Options{Tools: tools("claude", "codex", "kilo")}
	for {
		fmt.Println("round")
		for _, fault := range []*schema.Error{
			second(Install(context.Background(), ws, named)),
			second(Install(context.Background(), ws, Options{Refresh: true})),
			second(Uninstall(context.Background(), ws, nil)),
		} {
			if fault != nil {
				fmt.Println(fault)
				os.Exit(1)
			}
		}
	}
}

func second[T any](_ T, fault *schema.Error) *schema.Error { return fault }
