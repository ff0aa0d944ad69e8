//! The example in three files, as a user would run it.

use std::process::Stdio;

use tokio::process::Command;

fn program(name: &str, server: &str) -> Command {
    let mut command = Command::new(crate::built(&format!("examples/order-{name}")));
    command.env("ABIDE_SERVER", server).stdin(Stdio::null()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn an_order_sleeps_waits_for_its_payment_asks_for_approval_and_is_shipped() {
    let server = crate::server().real_time().start().await.unwrap();
    let _worker = program("worker", server.client.server()).spawn().unwrap();
    let start = program("start", server.client.server()).output().await.unwrap();
    let said = String::from_utf8(start.stdout).unwrap();
    assert_eq!((start.status.code(), said.as_str()), (Some(0), "parcel of order 7 was shipped\n"));
}

#[test]
fn the_example_has_at_most_40_lines() {
    let files = [
        include_str!("../../examples/order.rs"),
        include_str!("../../examples/worker.rs"),
        include_str!("../../examples/start.rs"),
    ];
    let lines = files.iter().flat_map(|file| file.lines()).filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 40, "{lines} lines");
}
