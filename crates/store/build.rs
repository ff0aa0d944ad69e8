//! Compiles SQLite's own checksum VFS beside the bundled SQLite: each page of a store says whether it is what was
//! written.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=checksums");
    let mut build = cc::Build::new();
    if let Ok(include) = env::var("DEP_SQLITE3_INCLUDE") {
        build.include(include);
    }
    // Nothing in it is called by name, so all of it is to be linked.
    build
        .file("checksums/register.c")
        .define("SQLITE_CORE", None)
        .warnings(false)
        .link_lib_modifier("+whole-archive")
        .compile("abide_checksums");
}
