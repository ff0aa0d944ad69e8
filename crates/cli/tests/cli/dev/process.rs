//! `abide dev` in a process and a folder of its own: what it says, line by line, and how it is stopped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use abide_testkit::http;
use serde_json::Value;

/// What is to come comes in this time, or never.
const BOUND: Duration = Duration::from_secs(300);

pub(crate) struct Dev {
    process: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
    pub(crate) address: String,
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command.arg("dev");
    // What is set for other servers does not count.
    command.env("ABIDE_STORE", "postgres://nowhere/abide").env("ABIDE_AUTH", "required");
    command.env("ABIDE_API_KEY", "abk_of_another_server").env_remove("ABIDE_LOG").env_remove("ABIDE_CONFIG");
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

impl Dev {
    /// Returns when it says where it listens.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Dev {
        let mut arguments = arguments.to_vec();
        let flags = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
        arguments.splice(flags..flags, ["--listen", "127.0.0.1:0"]);
        let mut process = command(folder, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let mut dev = Dev { process, lines, heard: Vec::new(), address: String::new() };
        dev.address = dev.hear("listens on").rsplit("http://").next().unwrap().to_owned();
        dev
    }

    /// One that does not even start: its exit code, and why.
    pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
        let output = command(folder, arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// The next line that holds this.
    pub(crate) fn hear(&mut self, what: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(BOUND);
            let line = line.unwrap_or_else(|_| panic!("`{what}` was not said after:\n{}", self.all()));
            self.heard.push(line.clone());
            if line.contains(what) {
                return line;
            }
        }
    }

    /// All that was heard.
    pub(crate) fn all(&self) -> String {
        self.heard.join("\n")
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        http::exchange(&self.address, method, path, "", &body)
    }

    /// Stops it as Ctrl-C would, and gives its exit code.
    pub(crate) fn stopped(&mut self) -> Option<i32> {
        self.stopped_by("-INT")
    }

    pub(crate) fn stopped_by(&mut self, signal: &str) -> Option<i32> {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            // It ends its command with it.
            self.stopped();
        }
    }
}

/// Waits for a condition.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < BOUND, "{what} did not come");
        thread::sleep(Duration::from_millis(20));
    }
}
