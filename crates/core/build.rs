//! Tells this code from any other that might replay a history to another state: a number made of the sources.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = BTreeSet::new();
    find(Path::new("src"), &mut files)?;
    let mut fingerprint: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in file.to_string_lossy().bytes().chain(fs::read(&file)?) {
            fingerprint = (fingerprint ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=ABIDE_CORE_FINGERPRINT={fingerprint:016x}");
    Ok(())
}

fn find(directory: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => find(&path, files)?,
            false => drop(files.insert(path)),
        }
    }
    Ok(())
}
