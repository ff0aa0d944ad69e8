//! `ARCHITECTURE.md` leads to every module, and to nothing that is not there. Its list of modules is written from the
//! first sentence of each module; `ABIDE_BLESS=1` writes it anew.

use std::fmt::Write;
use std::fs;

use super::tree::{folders, root, sources};

const BEGIN: &str = "<!-- modules: written by `ABIDE_BLESS=1 cargo nextest run -p abide-core map` -->\n";
const END: &str = "<!-- end of modules -->\n";

#[test]
fn every_module_is_in_the_map() {
    let file = root().join("ARCHITECTURE.md");
    let page = fs::read_to_string(&file).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the map has a list of modules");
    let (found, after) = rest.split_once(END).expect("the list of modules has an end");
    let expected = modules();
    if std::env::var_os("ABIDE_BLESS").is_some() {
        fs::write(&file, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        found == expected,
        "the list of modules in ARCHITECTURE.md has drifted; ABIDE_BLESS=1 writes it anew"
    );
}

#[test]
fn every_path_in_the_architecture_is_there() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let quoted = page.split('`').skip(1).step_by(2);
    let is_path = |text: &&str| {
        ["crates/", "sdk/", "web/", "docs/", "examples/", "schema/", "scripts/"]
            .iter()
            .any(|folder| text.starts_with(folder))
            && !text.contains(['*', '{', ' '])
    };
    let missing: Vec<&str> = quoted.filter(is_path).filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A table for each crate: its modules, each with what it says of itself.
fn modules() -> String {
    let (mut text, sources) = (String::new(), sources());
    for folder in folders() {
        let name = folder.strip_prefix(root()).unwrap().display().to_string();
        let here = format!("{name}/src/");
        let own = sources.iter().filter(|source| source.path.starts_with(&here));
        let own: Vec<_> = own.filter(|source| !source.path[here.len()..].contains('/')).collect();
        let (heads, rest): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|source| ["lib.rs", "main.rs"].contains(&&source.path[here.len()..]));
        write!(text, "\n**`{name}`** ").unwrap();
        let about = heads.first().map(|head| head.header()).unwrap_or_default();
        writeln!(text, "{about}\n\n| module | what it is for |\n|---|---|").unwrap();
        for source in rest {
            let module = source.path[here.len()..].trim_end_matches(".rs").to_owned();
            let header = source.header().replace('|', "\\|");
            assert!(!header.is_empty(), "{} does not say what it is for", source.path);
            writeln!(text, "| `{module}` | {header} |").unwrap();
        }
    }
    text.push('\n');
    text
}
