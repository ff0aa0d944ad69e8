//! `abide serve` on any store, and one who asks it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use abide_testkit::http;
use serde_json::Value;

pub(crate) struct Server {
    process: Child,
    address: String,
    /// Shown with every request, where there is one.
    pub(crate) key: Option<String>,
}

impl Server {
    pub(crate) fn start(store: &str, directory: &Path, settings: &[(&str, &str)]) -> Server {
        Server::start_of(abide(directory), store, settings)
    }

    /// With a clock that stands still until it is moved.
    pub(crate) fn start_with_clock(store: &str, directory: &Path, settings: &[(&str, &str)]) -> Server {
        Server::serve(abide(directory), &["--test-clock"], store, settings)
    }

    /// Of another build, too.
    pub(crate) fn start_of(binary: Command, store: &str, settings: &[(&str, &str)]) -> Server {
        Server::serve(binary, &[], store, settings)
    }

    fn serve(mut binary: Command, flags: &[&str], store: &str, settings: &[(&str, &str)]) -> Server {
        let mut process = binary
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--store", store])
            .args(flags)
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
        let first = said.next().expect("it says where it listens").unwrap();
        let address = first.rsplit("http://").next().unwrap().trim().to_owned();
        // What it says later is nobody's business, but it must be able to say it.
        std::thread::spawn(move || said.for_each(drop));
        Server { process, address, key: None }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.parse().unwrap()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// As it is stopped by those who run it.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.process.wait().unwrap()
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        let key = self.key.as_ref().map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
        http::exchange(&self.address, method, path, &(key + headers), body)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.send("GET", &format!("/v1{path}"), "", "");
        assert!(status < 300, "{path}: {status} {body}");
        body
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.post_under(path, body, None)
    }

    pub(crate) fn post_under(&self, path: &str, body: &Value, key: Option<&str>) -> Value {
        let key = key.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let (status, answer) = self.send("POST", &format!("/v1{path}"), &key, &body.to_string());
        assert!(status < 300, "{path}: {status} {answer}");
        answer
    }

    pub(crate) fn status(&self, run: &str) -> String {
        self.get(&format!("/workflow-runs/{run}"))["status"].as_str().unwrap().to_owned()
    }

    /// Asks again and again until it is so.
    pub(crate) fn wait_for(&self, what: &str, mut is_so: impl FnMut(&Server) -> bool) {
        let begun = std::time::Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < Duration::from_secs(300), "{what}: waited in vain");
            std::thread::yield_now();
        }
    }

    pub(crate) fn wait_for_status(&self, run: &str, status: &str) {
        self.wait_for(&format!("{run} {status}"), |server| server.status(run) == status);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

pub(crate) fn abide(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command.current_dir(directory);
    command
}

pub(crate) fn run(directory: &Path, arguments: &[&str]) -> Output {
    abide(directory).args(arguments).output().unwrap()
}

/// The words of a command that was refused.
pub(crate) fn refused(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    said
}

pub(crate) fn migrate(directory: &Path, from: &str, to: &str) -> Value {
    let output = run(directory, &["migrate", "--from", from, "--to", to, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}
