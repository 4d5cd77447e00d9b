package gitwatch

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// watchableTypes are the file systems on which every change goes through this
// kernel, which then tells of it and stamps it with its own clock.
var watchableTypes = map[uint32]string{
	unix.EXT4_SUPER_MAGIC:      "ext4", // ext2 and ext3, too
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	0x2fc12fc1:                 "zfs",
	0xca451a4e:                 "bcachefs",
}

// knownTypes name the usual ones among the others.
var knownTypes = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "FUSE", unix.V9FS_MAGIC: "9p", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	unix.MSDOS_SUPER_MAGIC: "FAT", unix.ECRYPTFS_SUPER_MAGIC: "eCryptfs", 0x786f4256: "vboxsf", 0xc36400: "Ceph",
}

// watchableAt fails where the file system at path may change without a notice.
func watchableAt(path string) error {
	var st unix.Statfs_t
	if err := uninterrupted(func() error { return unix.Statfs(path, &st) }); err != nil {
		return &unwatchable{"the file system can not be examined: " + err.Error()}
	}
	kind := uint32(st.Type)
	if _, ok := watchableTypes[kind]; ok {
		return nil
	}
	name, known := knownTypes[kind]
	if !known {
		name = fmt.Sprintf("0x%x", kind)
	}
	return &unwatchable{"unsupported file system: changes on " + name + " are not all told to this machine"}
}
