//! `abide top` in a real terminal, and as text.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::host::Host;

/// What is to come comes in this time, or never.
const BOUND: Duration = Duration::from_secs(300);
const SLEEPER: &str = "name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n";

/// A tmux server of its own, with one terminal in which a command runs.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn open(host: &Host, columns: u16, rows: u16, command: &str) -> Terminal {
        let socket = host.directory.path().join("tmux").display().to_string();
        let size = [columns, rows].map(|side| side.to_string());
        let terminal = Terminal { socket };
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            &size[0],
            "-y",
            &size[1],
            command,
        ]);
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("tmux").args(["-S", &self.socket]).args(arguments).env("LC_ALL", "C.UTF-8").output();
        let output = output.expect("tmux is there: `scripts/install tmux`");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// The screen, once it shows this.
    fn until(&self, shown: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(shown) {
                return screen;
            }
            assert!(begun.elapsed() < BOUND, "{shown} is not on\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

fn command(host: &Host) -> String {
    let binary = env!("CARGO_BIN_EXE_abide");
    // A shell that stays says whether the terminal is as it was.
    format!(
        "{binary} top --server {} --every 100ms; echo left with $?; stty -a | grep -o ' icanon'; cat",
        host.url
    )
}

#[test]
fn top_shows_what_waits_in_place_answers_to_keys_and_gives_the_terminal_back() {
    let host = Host::start();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    let terminal = Terminal::open(&host, 80, 24, &command(&host));
    let screen = terminal.until("sleeper   nap");
    assert!(
        screen.contains("WAITING 1") && screen.contains("DELAY 1") && screen.contains("Due 1, by due"),
        "{screen}"
    );
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    assert_eq!(lines.len(), 24, "{screen}");
    assert!(lines[0].starts_with("abide ") && lines[23].starts_with("q quit"), "{screen}");

    terminal.press("s");
    terminal.until("Due 1, by kind");
    terminal.press("Tab");
    terminal.until("Tasks 0, by oldest    Workflows");
    terminal.press("1");
    terminal.press("p");
    terminal.until("PAUSED");
    host.ok(&["wake", &run]);
    host.until_status(&run, "COMPLETED");
    assert!(terminal.until("PAUSED").contains("DELAY 1"), "what is paused stands still");
    terminal.press("p");
    terminal.until("COMPLETED 1");

    terminal.tmux(&["resize-window", "-x", "120", "-y", "50"]);
    terminal.until("Workers 0, by tasks");
    terminal.press("q");
    let screen = terminal.until("icanon");
    assert!(screen.contains("left with 0") && !screen.contains("WAITING"), "{screen}");
}

#[test]
fn top_says_when_its_server_is_gone_and_goes_on_when_it_is_back() {
    let mut host = Host::start();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    let terminal = Terminal::open(&host, 80, 24, &command(&host));
    terminal.until("WAITING 1");
    host.kill();
    let screen = terminal.until("lost ");
    assert!(screen.contains("WAITING 1"), "the last figures stay: {screen}");
    host.restart();
    let begun = Instant::now();
    while terminal.until("WAITING 1").contains("lost ") {
        assert!(begun.elapsed() < BOUND);
    }
}

#[test]
fn top_writes_one_frame_to_a_pipe_and_json_for_programs() {
    let host = Host::start();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    for arguments in [&["top", "--every", "100ms"][..], &["top", "--once", "--every", "100ms"]] {
        let said = host.ok(arguments);
        for part in
            ["WAITING 1", "DELAY 1", "Due 1, by due", "Tasks 0", "Workflows 1", "Workers 0", "commit p50"]
        {
            assert!(said.contains(part), "{part} in\n{said}");
        }
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(!said.contains('\x1b'), "{said}");
    }
    let json: Value = host.json(&["top", "--once", "--every", "100ms"]);
    assert_eq!((&json["status"], &json["due"][0]["workflow"]), (&"ok".into(), &"sleeper".into()), "{json}");
    assert!(json["windowSeconds"].as_f64().unwrap() >= 0.1, "{json}");
    assert!(json["process"]["residentBytes"].as_f64().unwrap() > 0.0, "{json}");
}

#[test]
fn top_shows_a_key_of_a_workspace_what_is_its_own() {
    let host = Host::start_with(&["--auth", "required"]);
    let admin = ["--key", host.key()];
    let workspace = host.ok(&[&["workspaces", "make", "shop"][..], &admin].concat());
    let make = ["keys", "make", "viewer", "--scope", "read", "--workspace", &workspace];
    let key = host.ok(&[&make[..], &admin].concat());
    let said = host.ok(&["top", "--once", "--every", "100ms", "--key", &key]);
    assert!(said.contains("RUNNING 0") && said.contains("per s  started -"), "{said}");
    let said = host.abide(&["top", "--once"]);
    assert_eq!(said.code, 6, "{said:?}");
}
