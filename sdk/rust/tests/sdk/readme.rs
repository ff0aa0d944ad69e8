//! The programs of the README run to their end as they stand.

use std::process::Stdio;

use tokio::process::Command;

const README: &str = include_str!("../../README.md");
const PROGRAMS: [(&str, &str); 2] = [
    ("readme", include_str!("../../examples/readme.rs")),
    ("virtual-time", include_str!("../../examples/virtual_time.rs")),
];

#[test]
fn every_program_of_the_readme_is_an_example() {
    let blocks = README.split("```rust,no_run\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    // But for the first line, which is the linter's.
    let programs = PROGRAMS.map(|(_, program)| program.split_once("\n\n").unwrap().1);
    assert_eq!(blocks.collect::<Vec<_>>(), programs);
}

#[tokio::test]
async fn the_readmes_programs_run_to_their_end() {
    let server = crate::server().real_time().start().await.unwrap();
    let mut said = String::new();
    for (name, _) in PROGRAMS {
        let mut program = Command::new(crate::built(&format!("examples/{name}")));
        program.env("ABIDE_SERVER", server.client.server()).env("ABIDE_BIN", crate::built("abide"));
        let ended = program.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
        assert!(ended.status.success(), "{name}: {}", String::from_utf8_lossy(&ended.stderr));
        said += &String::from_utf8(ended.stdout).unwrap();
    }
    assert_eq!(said, "parcel of order 7 was shipped\ndone true\n");
}
