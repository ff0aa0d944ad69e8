//! A server in a process of its own, and the commands that are given to it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// What is to come comes in this time, or never.
const BOUND: Duration = Duration::from_secs(300);

pub(crate) struct Host {
    pub(crate) directory: TempDir,
    server: Child,
    pub(crate) url: String,
    key: Option<String>,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Host {
    pub(crate) fn start() -> Host {
        Host::start_with(&[])
    }

    pub(crate) fn start_with(flags: &[&str]) -> Host {
        let directory = TempDir::new().unwrap();
        let (server, lines) = serve(directory.path(), "127.0.0.1:0", flags);
        let url = lines[0].rsplit(' ').next().unwrap().to_owned();
        let key = std::fs::read_to_string(directory.path().join("abide.db.admin-key"));
        Host { directory, server, url, key: key.ok().map(|key| key.trim().to_owned()) }
    }

    /// The key that was made at the first start.
    pub(crate) fn key(&self) -> &str {
        self.key.as_deref().unwrap()
    }

    /// Kills the server and starts it again at the same address, on the same store.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        self.server = serve(self.directory.path(), &address, &[]).0;
    }

    /// Kills the server, until [`restart`](Host::restart).
    pub(crate) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Has the server stop as an operator would, and gives what it leaves.
    pub(crate) fn end(&mut self) -> TempDir {
        let stopped = Command::new("kill").args(["-TERM", &self.server.id().to_string()]).status();
        assert!(stopped.unwrap().success());
        assert!(self.server.wait().unwrap().success());
        std::mem::replace(&mut self.directory, TempDir::new().unwrap())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = abide(arguments);
        command.env("ABIDE_SERVER", &self.url).current_dir(self.directory.path());
        command
    }

    pub(crate) fn abide(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    /// A command that must succeed; what it wrote, without the last line's end.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let said = self.abide(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
        said.out.trim_end().to_owned()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.ok(&arguments)).unwrap()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Stores a workflow and starts a run of it.
    pub(crate) fn started(&self, workflow: &str) -> String {
        self.file("workflow.yaml", workflow);
        self.ok(&["deploy", "workflow.yaml"]);
        let name = workflow.lines().next().unwrap().strip_prefix("name: ").unwrap().to_owned();
        self.ok(&["start", &name])
    }

    pub(crate) fn status(&self, run: &str) -> String {
        self.json(&["show", run])["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn until_status(&self, run: &str, status: &str) {
        until(status, || self.status(run) == status);
    }

    pub(crate) fn until_waiting(&self, run: &str) {
        until("a wait", || !self.json(&["waits", "--run", run])["data"].as_array().unwrap().is_empty());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The binary, without what the environment of the tests may say.
pub(crate) fn abide(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    for variable in
        ["ABIDE_SERVER", "ABIDE_API_KEY", "ABIDE_CA", "ABIDE_STORE", "ABIDE_LISTEN", "ABIDE_CONFIG"]
    {
        command.env_remove(variable);
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// A command that needs no server.
pub(crate) fn alone(directory: &Path, arguments: &[&str]) -> Said {
    Said::from(abide(arguments).current_dir(directory).output().unwrap())
}

pub(crate) fn with_input(mut command: Command, input: &str) -> Said {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Said::from(child.wait_with_output().unwrap())
}

/// Starts a server, and reads what it says until it is ready.
fn serve(directory: &Path, listen: &str, flags: &[&str]) -> (Child, Vec<String>) {
    let mut command = abide(&["serve", "--listen", listen, "--log", "error"]);
    let mut child = command.args(flags).current_dir(directory).stdout(Stdio::piped()).spawn().unwrap();
    let last = if flags.contains(&"required") { "export" } else { "store" };
    let lines = greeting(&mut child, last);
    (child, lines)
}

/// What it says up to the line that begins so.
fn greeting(server: &mut Child, last: &str) -> Vec<String> {
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| !line.trim().starts_with(last)) {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "the server ended: {lines:?}");
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Waits for a condition.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < BOUND, "{what} did not come");
        thread::sleep(Duration::from_millis(20));
    }
}
