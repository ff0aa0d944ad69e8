//! The `abide` binary. Every subcommand has its own file; here is only which there are.

mod backup;
mod check;
mod client;
mod commands;
mod completions;
mod config;
mod console;
mod demo;
mod dev;
mod doctor;
mod first_key;
mod handler;
mod mcp;
mod migrate;
mod page;
mod payload;
mod place;
mod private;
mod process;
mod record;
#[cfg(all(test, feature = "bench"))]
mod reference;
mod run;
mod schema;
mod secrets;
mod serve;
mod steps;
mod stop;
mod table;
mod terminal;
mod times;
mod upstash;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

/// Durable workflows that sleep for a second or a year.
#[derive(Debug, Parser)]
#[command(
    name = "abide",
    version,
    arg_required_else_help = true,
    after_help = "New here? `abide serve --demo` starts a server with examples and says where its page is; the book with a tutorial\nis at /book/ there."
)]
struct Abide {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Dev(dev::Dev),
    Run(run::RunHere),
    Check(check::Check),
    #[command(flatten)]
    Remote(commands::Remote),
    Backup(backup::Backup),
    Migrate(migrate::Migrate),
    Doctor(doctor::Doctor),
    Config(config::ShowConfig),
    Secrets(secrets::ListSecrets),
    Mcp(mcp::Mcp),
    Upstash(upstash::Upstash),
    Schema(schema::Schema),
    #[cfg(feature = "bench")]
    Bench(abide_bench::Bench),
    Completions(completions::Completions),
}

// Runs are allocated on one thread and written on another; the system's allocator makes them wait for each other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let done = match Abide::parse().command {
        Command::Serve(serve) => serve.run(&mut out, &mut io::stderr()),
        Command::Dev(dev) => dev.run(&mut out, &mut io::stderr()),
        Command::Run(run) => run.run(&mut out, &mut io::stderr()),
        Command::Check(check) => check.run(&mut out, &mut io::stderr().lock()),
        Command::Remote(remote) => remote.run(&mut out, &mut io::stderr()),
        Command::Backup(backup) => backup.run(&mut out, &mut io::stderr().lock()),
        Command::Migrate(migrate) => migrate.run(&mut out, &mut io::stderr()),
        Command::Doctor(doctor) => doctor.run(&mut out, &mut io::stderr()),
        Command::Config(config) => config.run(&mut out, &mut io::stderr().lock()),
        Command::Mcp(mcp) => mcp.run(&mut out, &mut io::stderr()),
        Command::Upstash(upstash) => upstash.run(&mut out, &mut io::stderr().lock()),
        Command::Secrets(secrets) => secrets.run(&mut out, &mut io::stderr().lock()),
        Command::Schema(schema) => schema.run(&mut out),
        #[cfg(feature = "bench")]
        Command::Bench(bench) => bench.run(&mut out, &mut io::stderr()),
        Command::Completions(completions) => completions.run::<Abide>(&mut out),
    };
    terminal::exit_code(done)
}
