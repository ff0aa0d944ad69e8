//! Files that only their owner may read: a store holds everybody's payloads, hashes of keys, and secrets.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// What stands beside a store's file, and has what is in it.
const BESIDE: [&str; 5] = ["-wal", "-shm", "-journal", ".lock", ".commits"];

/// For a file that is written, and that only its owner may read if it is new.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the file of a store its owner's alone. SQLite gives the files beside it the same permissions.
pub(super) fn tighten(path: &Path) {
    if path.to_string_lossy().starts_with("file:") {
        return;
    }
    // Whatever is wrong with the path is told by whoever opens it.
    drop(options().create(true).truncate(false).open(path));
    let beside = BESIDE.iter().map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    for file in std::iter::once(path.to_owned()).chain(beside) {
        close_to_others(&file);
    }
}

#[cfg(unix)]
fn close_to_others(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(metadata) = fs::metadata(file) else { return };
    let mode = metadata.permissions().mode();
    if mode & 0o077 == 0 {
        return;
    }
    let shown = file.display();
    match fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o700)) {
        Ok(()) => {
            tracing::warn!(file = %shown, "others on this machine could read this file; it is its owner's alone now")
        }
        Err(error) => {
            tracing::warn!(file = %shown, %error, "others on this machine can read this file; `chmod 600` it")
        }
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) {}
