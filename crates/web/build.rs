//! Finds what `web/build` has made, and makes the book of `docs/`. The dashboard is not built here: without Node there is
//! simply nothing to find.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const DIST: &str = "../../web/dist";
const REPOSITORY: &str = "../..";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={DIST}");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says it")).join(DIST).join("site");
    let mut files = Vec::new();
    if root.is_dir() {
        find(&root, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files.iter().filter(|file| file.extension().is_none_or(|extension| extension != "gz")) {
        let path = file.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/");
        let small = PathBuf::from(format!("{}.gz", file.display()));
        let small =
            if small.is_file() { format!("Some(include_bytes!({small:?}))") } else { "None".to_owned() };
        writeln!(table, "    Asset {{ path: {path:?}, bytes: include_bytes!({file:?}), gzip: {small} }},")
            .expect("a String takes everything");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo says it"));
    fs::write(out.join("assets.rs"), table)?;
    book(&out)
}

/// Without the repository around the crate there is no book, and the server says so.
fn book(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={REPOSITORY}/docs");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says it")).join(REPOSITORY);
    let mut table = String::from("&[\n");
    if root.join("docs/SUMMARY.md").is_file() {
        let book = abide_book::Book::read(&root).map_err(io::Error::other)?;
        for page in book.pages.keys().filter(|path| !path.starts_with("docs/")) {
            println!("cargo::rerun-if-changed={REPOSITORY}/{page}");
        }
        for made in book.files().map_err(io::Error::other)? {
            let file = out.join("book").join(&made.path);
            fs::create_dir_all(file.parent().expect("it is in a folder"))?;
            fs::write(&file, made.bytes)?;
            let path = made.path;
            writeln!(table, "    Asset {{ path: {path:?}, bytes: include_bytes!({file:?}), gzip: None }},")
                .expect("a String takes everything");
        }
    }
    table.push_str("]\n");
    fs::write(out.join("book.rs"), table)
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { find(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
