//! The real binary, serving a store of its own or one that it shares, to be killed and started again. Its own store is a
//! file, or a database where `ABIDE_TEST_STORE=postgres` says so.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use abide_store::postgres::server::{self, Server};
use tempfile::TempDir;

pub(crate) struct Process {
    folder: TempDir,
    address: SocketAddr,
    store: String,
    environment: Vec<(&'static str, PathBuf)>,
    child: Child,
}

impl Process {
    #[allow(dead_code, reason = "not every test begins with an empty folder of its own")]
    pub(crate) fn start() -> Process {
        let folder = tempfile::tempdir().unwrap();
        match server::is_asked_for() {
            true => Process::start_on(folder, Server::shared().database(), Vec::new()),
            false => Process::start_with(folder, Vec::new()),
        }
    }

    /// On a file, whatever else is asked for.
    #[allow(dead_code, reason = "not every test needs a file")]
    pub(crate) fn start_with(folder: TempDir, environment: Vec<(&'static str, PathBuf)>) -> Process {
        let store = format!("sqlite:{}", folder.path().join("abide.db").display());
        Process::start_on(folder, store, environment)
    }

    pub(crate) fn start_on(
        folder: TempDir,
        store: String,
        environment: Vec<(&'static str, PathBuf)>,
    ) -> Process {
        // Free at this moment, and taken by nobody else in this test.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = serve(folder.path(), address, &store, &environment);
        Process { folder, address, store, environment, child }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    #[allow(dead_code, reason = "not every test looks into it")]
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// kill -9, and another one in its place.
    pub(crate) fn kill_and_start_again(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = serve(self.folder.path(), self.address, &self.store, &self.environment);
    }
}

impl Process {
    /// kill -9, and another one in its place, in another environment.
    #[allow(dead_code, reason = "not every test changes it")]
    pub(crate) fn start_again_with(&mut self, environment: Vec<(&'static str, PathBuf)>) {
        self.environment = environment;
        self.kill_and_start_again();
    }

    /// The most that was ever resident.
    #[allow(dead_code, reason = "not every test looks at its memory")]
    pub(crate) fn peak_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }

    /// How large a file may be that it writes.
    #[allow(dead_code, reason = "not every test has them limited")]
    pub(crate) fn limit_files(&self, bytes: &str) {
        let (pid, limit) = (self.child.id().to_string(), format!("--fsize={bytes}"));
        assert!(Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap().success());
    }

    #[allow(dead_code, reason = "not every test stops it")]
    pub(crate) fn signal(&self, signal: &str) {
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

/// Returns when it says that it listens.
fn serve(folder: &Path, address: SocketAddr, store: &str, environment: &[(&'static str, PathBuf)]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
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
