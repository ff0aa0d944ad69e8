//! The SDK against a real server: the binary that `ABIDE_BIN` names, or the one that was built along with this test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod branches;
mod conformance;
mod deploys;
mod desk;
mod durable;
mod example;
mod property;
mod readme;
#[path = "../../examples/refund_desk.rs"]
#[allow(unreachable_pub, reason = "it is written as somebody would write it in their own crate")]
mod refund_desk;
mod replay;
mod requests;
mod resources;
mod scripted;

use std::path::PathBuf;

use abide_sdk::testing::{TestServer, TestServerBuilder};

fn server() -> TestServerBuilder {
    TestServer::builder().bin(abide())
}

fn abide() -> PathBuf {
    match std::env::var_os("ABIDE_BIN") {
        Some(path) => path.into(),
        None => built("abide"),
    }
}

/// What the same build made, beside the directory of this test.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(|deps| deps.parent()).unwrap().join(name);
    assert!(path.exists(), "{} is not there: build the workspace, or set ABIDE_BIN", path.display());
    path
}
