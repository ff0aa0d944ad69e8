//! Files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Warns where others can read a file that holds secrets.
pub(crate) fn warn_if_shared(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if let Ok(metadata) = std::fs::metadata(path)
            && metadata.permissions().mode() & 0o077 != 0
        {
            let file = path.display();
            tracing::warn!(%file, "others on this machine can read this file of secrets; `chmod 600` it");
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// A new file that only its owner may read. One that is there already is not touched.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
