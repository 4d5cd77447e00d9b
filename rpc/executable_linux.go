package rpc

// ownExecutable names the file that runs, also after it was replaced or removed.
func ownExecutable() (string, error) { return "/proc/self/exe", nil }
