//! The real binary as `abide serve`, to be killed and started again.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::postgres::{self, Server};

/// How a process finds the settings of its environment: names and values.
pub type Environment = Vec<(&'static str, PathBuf)>;

/// A binary that serves a store of its own, or one that it shares.
#[derive(Debug)]
pub struct Process {
    binary: &'static str,
    folder: TempDir,
    address: SocketAddr,
    store: String,
    environment: Environment,
    child: Child,
}

impl Process {
    /// Serves a store of its own: a file, or a database where `ABIDE_TEST_STORE=postgres` says so.
    pub fn start(binary: &'static str) -> Process {
        let folder = tempfile::tempdir().unwrap();
        match postgres::is_asked_for() {
            true => Process::start_on(binary, folder, Server::shared().database(), Vec::new()),
            false => Process::start_with(binary, folder, Vec::new()),
        }
    }

    /// Serves a file in this folder, whatever else is asked for.
    pub fn start_with(binary: &'static str, folder: TempDir, environment: Environment) -> Process {
        let store = format!("sqlite:{}", folder.path().join("abide.db").display());
        Process::start_on(binary, folder, store, environment)
    }

    /// Serves the store at this address.
    pub fn start_on(
        binary: &'static str,
        folder: TempDir,
        store: String,
        environment: Environment,
    ) -> Process {
        // Free at this moment, and taken by nobody else in this test.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = serve(binary, folder.path(), address, &store, &environment);
        Process { binary, folder, address, store, environment, child }
    }

    /// Where the process listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The store that is served, as `--store` takes it.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// The folder in which the process runs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills the process with SIGKILL and starts another one in its place.
    pub fn kill_and_start_again(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = serve(self.binary, self.folder.path(), self.address, &self.store, &self.environment);
    }

    /// Kills the process with SIGKILL and starts another one in its place, in another environment.
    pub fn start_again_with(&mut self, environment: Environment) {
        self.environment = environment;
        self.kill_and_start_again();
    }

    /// The most memory of the process that was ever resident.
    pub fn peak_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }

    /// Limits how large a file may be that the process writes.
    pub fn limit_files(&self, bytes: &str) {
        let (pid, limit) = (self.child.id().to_string(), format!("--fsize={bytes}"));
        assert!(Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap().success());
    }

    /// Sends the process a signal, as `kill` names it.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns when the server says that it listens.
fn serve(
    binary: &str,
    folder: &Path,
    address: SocketAddr,
    store: &str,
    environment: &[(&'static str, PathBuf)],
) -> Child {
    let mut child = Command::new(binary)
        .args(["serve", "--listen", &address.to_string(), "--store", store])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = said.next().expect("it says where it listens").unwrap();
    assert!(first.contains("listens on"), "{first}");
    // What it says later is nobody's business, but it must be able to say it.
    std::thread::spawn(move || said.for_each(drop));
    child
}
