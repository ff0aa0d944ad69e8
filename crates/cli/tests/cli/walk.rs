//! The README's walk, command by command, as a reader would do it: in one shell, with the real binary, on a fresh
//! store. Where the README shows what comes out, that is what must come out; `…` stands for anything.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What is to come comes in this time, or never.
const BOUND: Duration = Duration::from_secs(300);
/// Said by the shell when a block is done.
const MARK: &str = "--- the end of a block:";
/// Ends with the code of what was killed.
const KILLED: &str = "kill -9 $!; wait $!";
/// Sections of the README whose commands are about this binary.
const SECTIONS: [&str; 2] = ["## The first five minutes", "## Your own workflow"];

#[test]
fn every_command_of_the_walk_does_what_the_readme_says() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<Block> = SECTIONS.iter().flat_map(|section| blocks(&readme, section)).collect();
    assert!(blocks.len() >= 10, "the walk is in the README");
    let first = blocks[0].commands.as_str();
    assert_eq!(first, "./try &\n", "one command builds and starts it");
    let mut reader = Reader::sit_down();
    for block in &blocks {
        reader.follow(block);
    }
}

#[test]
fn every_command_of_the_operating_guide_does_what_it_says() {
    let guide = fs::read_to_string(root().join("docs/operating/running.md")).unwrap();
    let blocks = blocks_of(&guide);
    assert!(blocks.len() >= 15, "the guide has commands");
    let mut reader = Reader::sit_down();
    reader.follow(&Block { commands: "PATH=\"$PWD/target/quick:$PATH\"\n".to_owned(), shown: None });
    for block in &blocks {
        reader.follow(block);
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Commands, and what they write if that is shown.
#[derive(Debug)]
struct Block {
    commands: String,
    shown: Option<String>,
}

fn blocks(readme: &str, section: &str) -> Vec<Block> {
    let (_, text) = readme.split_once(&format!("{section}\n")).unwrap();
    blocks_of(text.split("\n## ").next().unwrap())
}

fn blocks_of(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // Fences come in pairs: every second part is inside.
    for fenced in text.split("```").skip(1).step_by(2) {
        match fenced.split_once('\n').unwrap() {
            ("sh", commands) => blocks.push(Block { commands: commands.to_owned(), shown: None }),
            ("text", shown) => blocks.last_mut().unwrap().shown = Some(shown.to_owned()),
            (language, _) => panic!("{language} is neither a command nor what comes of one"),
        }
    }
    blocks
}

/// Somebody who follows the walk in one shell.
struct Reader {
    directory: TempDir,
    shell: Child,
    tell: ChildStdin,
    /// Line by line, so that a command that hangs is found.
    heard: Receiver<String>,
    address: String,
}

impl Reader {
    /// A checkout in which `./try` has nothing left to build: what it would build is the binary under test.
    fn sit_down() -> Reader {
        let directory = TempDir::new().unwrap();
        let place = directory.path();
        for folder in ["target/quick", "bin", "web", "scripts"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_abide"), place.join("target/quick/abide")).unwrap();
        for shared in ["examples", "try"] {
            symlink(fs::canonicalize(root().join(shared)).unwrap(), place.join(shared)).unwrap();
        }
        let cargo = "#!/bin/sh\n[ \"$*\" = 'build --locked --profile quick --package abide-cli --no-default-features' ]\n";
        for (script, text) in
            [("bin/cargo", cargo), ("web/build", "#!/bin/sh\n"), ("scripts/install", "#!/bin/sh\n")]
        {
            fs::write(place.join(script), text).unwrap();
            fs::set_permissions(place.join(script), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let path = format!("{}:{}", place.join("bin").display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(place)
            .env("PATH", path)
            .env("ABIDE_LISTEN", &address)
            .env("ABIDE_SERVER", format!("http://{address}"))
            .env("ABIDE_LOG", "error")
            .env_remove("ABIDE_API_KEY")
            .env_remove("ABIDE_STORE")
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (tell, out) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        let (hear, heard) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| hear.send(line)));
        Reader { directory, shell, tell, heard, address }
    }

    /// A server may need a moment to come up, and a run to come to what is shown; looking again does no harm.
    fn follow(&mut self, block: &Block) {
        let begun = Instant::now();
        let only_looks = ["abide show", "abide waits", "abide approvals"];
        let may_repeat =
            block.commands.lines().all(|line| only_looks.iter().any(|looks| line.starts_with(looks)));
        loop {
            let (code, said) = self.run(&block.commands);
            let shown = block.shown.as_ref().is_none_or(|shown| fits(shown, &said));
            if code == 0 && shown {
                break;
            }
            assert!(
                may_repeat && begun.elapsed() < BOUND,
                "{}exited with {code}:\n{said}\n{block:#?}",
                block.commands
            );
            thread::sleep(Duration::from_millis(100));
        }
        if block.commands.lines().any(|line| line.ends_with(" &")) {
            while TcpStream::connect(&self.address).is_err() {
                assert!(begun.elapsed() < BOUND, "the server did not come up");
                thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// The worst exit code, and what was written.
    fn run(&mut self, commands: &str) -> (i32, String) {
        // What runs in the background must not hold the pipe, and `$!` must stay what it is.
        let commands: String = commands
            .lines()
            .map(|line| match line.strip_suffix(" &") {
                Some(server) => format!("{server} > server.log 2>&1 &\n"),
                None if line == KILLED => format!("{line}; [ $? = 137 ] || worst=1\n"),
                None => format!("{line} || worst=$?\n"),
            })
            .collect();
        // Not every command ends its last line.
        writeln!(self.tell, "worst=0\n{commands}printf '\\n%s%s\\n' '{MARK}' $worst").unwrap();
        let mut said = String::new();
        loop {
            let line =
                self.heard.recv_timeout(BOUND).unwrap_or_else(|_| panic!("{commands}hangs after:\n{said}"));
            match line.strip_prefix(MARK) {
                Some(code) => return (code.parse().unwrap(), said),
                None => said.push_str(&format!("{line}\n")),
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = writeln!(self.tell, "kill -9 $!; exit");
        let _ = self.shell.wait();
        assert!(thread::panicking() || self.directory.path().join("abide.db").exists());
    }
}

/// Whether the text is as shown, from its beginning to its end; `…` is anything, and the number of blanks does not
/// count.
fn fits(shown: &str, text: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (shown, text) = (squeezed(shown), squeezed(text));
    let parts: Vec<&str> = shown.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return text == shown };
    let Some(rest) = text.strip_prefix(first) else { return false };
    let rest = middle.iter().try_fold(rest, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    rest.is_some_and(|rest| rest.ends_with(last))
}

#[test]
fn what_is_shown_fits_what_came_only_where_it_does() {
    assert!(fits("run_…  order 1  WAITING\n", "run_01  order 1  WAITING\n"));
    assert!(fits("a … c", "a b b c"));
    assert!(fits("WAITING", "WAITING\n"));
    for (shown, text) in
        [("a … d", "a b b c"), ("b … c", "a b b c"), ("a … b", "a b b c"), ("WAITING", "COMPLETED")]
    {
        assert!(!fits(shown, text), "{shown}");
    }
}
