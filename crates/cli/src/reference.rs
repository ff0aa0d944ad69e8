//! `docs/reference/cli.md`, written from the commands themselves: it fails when it drifts, and `ABIDE_BLESS=1` writes it anew.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use crate::Abide;
use crate::client::Exit;

const HEAD: &str = "# Commands

<!-- Written by `ABIDE_BLESS=1 cargo nextest run -p abide-cli reference`. -->

One binary is the server, its worker and its remote control. `abide COMMAND --help` says what is here, too.

Where a **run** is named, its id is enough, or the beginning of one, or `latest`. Where a **wait** is named, its id
(`wp_…`) will do, or a run that has only one; `--step` says which of several. **JSON** is given as it is, as `@file`, or
as `-` for the standard input. **Instants** look like `2026-12-01T09:00:00Z`, **durations** like `90s` or `2d 4h`.

Commands that talk to a server find it by `--server` or `ABIDE_SERVER`, and show the key of `--key` or `ABIDE_API_KEY`.
Tables are for people and fit the terminal; `--json` writes the server's answer as it came.
";

/// What each exit code means.
fn meaning(exit: Exit) -> &'static str {
    match exit {
        Exit::Failed => "It failed: a run, a file with problems, a server in trouble.",
        Exit::Usage => "The command line is not right, or a file cannot be read.",
        Exit::NotFound => "There is no such run, wait, workflow or key.",
        Exit::Refused => {
            "The server said no: it is decided already, has ended, exists, or is malformed. The code in brackets says which; see [errors.md](errors.md)."
        }
        Exit::Unreachable => "The server cannot be reached, or asks to come back later.",
        Exit::NotAllowed => "The key is missing, unknown, or not good for this.",
        Exit::NotOver => "Nothing is wrong, but the run is not over.",
    }
}

const EXITS: [Exit; 7] = [
    Exit::Failed,
    Exit::Usage,
    Exit::NotFound,
    Exit::Refused,
    Exit::Unreachable,
    Exit::NotAllowed,
    Exit::NotOver,
];

fn page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n| exit code | meaning |\n|---|---|\n| 0 | Done. |\n");
    for exit in EXITS {
        line(&mut page, &format!("| {} | {} |", exit as u8, meaning(exit)));
    }
    page.push_str("\n| command | |\n|---|---|\n");
    let commands = commands();
    for command in &commands {
        let name = command.get_name();
        line(&mut page, &format!("| [`{name}`](#abide-{name}) | {} |", about(command)));
    }
    for command in &commands {
        section(&mut page, command, &format!("abide {}", command.get_name()), "##");
    }
    page
}

fn commands() -> Vec<Command> {
    let mut abide = Abide::command();
    abide.build();
    abide.get_subcommands().filter(|command| is_for_people(command)).cloned().collect()
}

fn is_for_people(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

fn section(page: &mut String, command: &Command, name: &str, level: &str) {
    line(page, &format!("\n{level} {name}\n\n{}.", about(command)));
    let (text, examples) = help(command);
    if !text.is_empty() {
        line(page, &format!("\n{text}"));
    }
    if !examples.is_empty() {
        line(page, &format!("\n```sh\n{examples}\n```"));
    }
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_own(argument)).collect();
    if !arguments.is_empty() {
        page.push_str("\n| argument | |\n|---|---|\n");
    }
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let default = argument.get_default_values().first().map(|value| value.to_string_lossy());
        let default = default.filter(|_| argument.get_action().takes_values());
        let default = default.map(|value| format!(" (`{value}` if absent)")).unwrap_or_default();
        line(page, &format!("| `{}` | {}{default} |", spelled(argument), help.replace('|', "\\|")));
    }
    for sub in command.get_subcommands().filter(|sub| is_for_people(sub)) {
        section(page, sub, &format!("{name} {}", sub.get_name()), "###");
    }
}

/// Those that every command of its kind has are explained at the top.
fn is_own(argument: &Arg) -> bool {
    !["help", "version", "server", "key", "json"].contains(&argument.get_id().as_str())
}

fn spelled(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map(ToString::to_string).filter(|_| argument.get_action().takes_values());
    match (argument.get_long(), argument.get_short(), value) {
        (None, _, value) => value.unwrap_or_else(|| argument.get_id().to_string().to_uppercase()),
        (Some(long), None, None) => format!("--{long}"),
        (Some(long), None, Some(value)) => format!("--{long} {value}"),
        (Some(long), Some(short), None) => format!("-{short}, --{long}"),
        (Some(long), Some(short), Some(value)) => format!("-{short}, --{long} {value}"),
    }
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// What stands after the flags: text, and the examples.
fn help(command: &Command) -> (String, String) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (before, examples) = help.split_once("Examples:\n").unwrap_or((&help, ""));
    let (examples, after) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let text = [before.trim(), after.trim()].into_iter().filter(|part| !part.is_empty());
    let text = text.collect::<Vec<_>>().join("\n\n");
    let examples = examples.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    (text, examples.collect::<Vec<_>>().join("\n"))
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("a string takes everything");
}

#[test]
fn the_reference_of_the_commands_is_what_the_commands_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let page = page();
    if std::env::var_os("ABIDE_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "docs/reference/cli.md has drifted; ABIDE_BLESS=1 writes it anew");
}

#[test]
fn every_command_has_an_example() {
    for command in commands() {
        let (_, examples) = help(&command);
        let own = format!("abide {}", command.get_name());
        assert!(examples.contains(&own), "{own}: {examples}");
        let flagless = command.get_arguments().filter(|argument| argument.get_help().is_none());
        for argument in flagless.filter(|argument| is_own(argument)) {
            assert!(argument.is_positional(), "{own}: {} says nothing", argument.get_id());
        }
    }
}
