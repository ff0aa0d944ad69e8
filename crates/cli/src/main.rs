//! The `abide` binary. Every subcommand has its own file; here is only which there are.

mod bench;
mod check;
mod config;
mod schema;
mod serve;
mod terminal;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

/// Durable workflows that sleep for a second or a year.
#[derive(Debug, Parser)]
#[command(name = "abide", version, arg_required_else_help = true)]
struct Abide {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::Bench),
    Check(check::Check),
    Config(config::ShowConfig),
    Schema(schema::Schema),
    Serve(serve::Serve),
}

// Runs are allocated on one thread and written on another; the system's allocator makes them wait for each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let done = match Abide::parse().command {
        Command::Bench(bench) => bench.run(&mut out, &mut io::stderr()),
        Command::Check(check) => check.run(&mut out, &mut io::stderr().lock()),
        Command::Config(config) => config.run(&mut out, &mut io::stderr().lock()),
        Command::Schema(schema) => schema.run(&mut out),
        Command::Serve(serve) => serve.run(&mut out, &mut io::stderr()),
    };
    terminal::exit_code(done)
}
