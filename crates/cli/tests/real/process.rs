//! The real binary, serving a store in a folder of its own, to be killed and started again.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

pub(crate) struct Process {
    folder: TempDir,
    address: SocketAddr,
    environment: Vec<(&'static str, PathBuf)>,
    child: Child,
}

impl Process {
    #[allow(dead_code, reason = "not every test begins with an empty folder of its own")]
    pub(crate) fn start() -> Process {
        Process::start_with(tempfile::tempdir().unwrap(), Vec::new())
    }

    pub(crate) fn start_with(folder: TempDir, environment: Vec<(&'static str, PathBuf)>) -> Process {
        // Free at this moment, and taken by nobody else in this test.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = serve(folder.path(), address, &environment);
        Process { folder, address, environment, child }
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
        self.child = serve(self.folder.path(), self.address, &self.environment);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns when it says that it listens.
fn serve(folder: &Path, address: SocketAddr, environment: &[(&'static str, PathBuf)]) -> Child {
    let store = folder.join("abide.db");
    let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(["serve", "--listen", &address.to_string(), "--store", &format!("sqlite:{}", store.display())])
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
