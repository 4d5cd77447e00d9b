package gitwatch

// vendorConfiguration is what the Git that comes with macOS reads besides the
// system's file.
var vendorConfiguration = []string{
	"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
	"/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
}
