//! Commands as handlers: a workflow in any language, with nothing to install. The task comes as JSON on the standard
//! input, its output goes as JSON to the standard output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use abide_core::limits;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// A command that exits with this says that another attempt would not help (`EX_DATAERR`).
pub(crate) const NOT_RETRYABLE: i32 = 65;
/// What a failed attempt tells of its command's last words.
const MESSAGE_BYTES: usize = 4_096;

/// A handler's name and its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) command: String,
}

/// `name=command`, as `--handler` takes it.
pub(crate) fn parse(given: &str) -> Result<Named, String> {
    match given.split_once('=') {
        Some((name, command)) if !name.trim().is_empty() && !command.trim().is_empty() => {
            Ok(Named { name: name.trim().to_owned(), command: command.to_owned() })
        }
        Some(_) | None => {
            Err("a handler is a name and a command; it would look like `send-email='./send.sh'`".to_owned())
        }
    }
}

/// By name; the last one given for a name counts.
pub(crate) fn by_name(given: &[Named]) -> BTreeMap<String, String> {
    given.iter().map(|named| (named.name.clone(), named.command.clone())).collect()
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Worked {
    Done { output: Value, state_updates: Option<Map<String, Value>> },
    Failed { message: String, code: &'static str, retryable: bool },
}

/// Whether what a command says on its standard error is passed on as it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    PassedOn,
    Kept,
}

/// Runs the command for a task. When this is dropped, the command and what it started are killed.
/// Variables that hold a key or a secret are kept back from it, except those that `pass` names.
pub(crate) async fn work(
    command: &str,
    task: &Value,
    server: Option<&str>,
    aside: Aside,
    pass: &[String],
) -> Worked {
    match try_work(command, task, server, aside, pass).await {
        Ok(worked) => worked,
        Err(error) => failed(format!("the command could not be run: {error}"), "COMMAND_NOT_RUN", true),
    }
}

async fn try_work(
    command: &str,
    task: &Value,
    server: Option<&str>,
    aside: Aside,
    pass: &[String],
) -> std::io::Result<Worked> {
    let updates = tempfile::NamedTempFile::new()?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in kept_back(std::env::vars_os().map(|(name, _)| name), pass) {
        shell.env_remove(name);
    }
    shell.env("ABIDE_STATE_FILE", updates.path()).kill_on_drop(true);
    for (variable, field) in [
        ("ABIDE_TASK_ID", "id"),
        ("ABIDE_RUN_ID", "runId"),
        ("ABIDE_STEP", "stepName"),
        ("ABIDE_HANDLER", "handler"),
        ("ABIDE_ATTEMPT", "attempt"),
    ] {
        shell.env(variable, plain(&task[field]));
    }
    // The trace is the task's, not the worker's own.
    match task["traceparent"].as_str() {
        Some(traceparent) => shell.env("TRACEPARENT", traceparent),
        None => shell.env_remove("TRACEPARENT"),
    };
    if let Some(server) = server {
        shell.env("ABIDE_SERVER", server);
    }
    // An interrupt at the terminal is for the worker, which then waits for its commands.
    #[cfg(unix)]
    shell.process_group(0);
    let mut child = Group(shell.spawn()?);
    let (stdin, stdout, stderr) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let tell = async {
        if let Some(mut stdin) = stdin {
            // A command need not read what it is told.
            let _ = stdin.write_all(format!("{task}\n").as_bytes()).await;
        }
    };
    let (status, (), output, message) =
        tokio::join!(child.0.wait(), tell, read_output(stdout), read_aside(stderr, aside));
    Ok(judge(status?, &output, &message, &read_updates(updates.path())))
}

/// Of these variables, those that a command does not get: keys and secrets that are the worker's or the server's own.
pub(crate) fn kept_back<'p>(
    variables: impl Iterator<Item = OsString> + 'p,
    pass: &'p [String],
) -> impl Iterator<Item = OsString> + 'p {
    variables.filter(move |variable| {
        let name = variable.to_string_lossy();
        let is_key = matches!(&*name, "ABIDE_API_KEY" | "ABIDE_MASTER_KEY" | "ABIDE_OLD_MASTER_KEY");
        (is_key || name.starts_with("ABIDE_SECRET_")) && !pass.iter().any(|passed| *passed == name)
    })
}

/// The command with all that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) =
            self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // It may be gone already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

fn judge(
    status: ExitStatus,
    output: &[u8],
    aside: &str,
    updates: &Result<Option<Map<String, Value>>, String>,
) -> Worked {
    match status.code() {
        Some(0) => {}
        Some(code) => {
            let said =
                if aside.is_empty() { format!("the command exited with {code}") } else { aside.to_owned() };
            return failed(said, "COMMAND_FAILED", code != NOT_RETRYABLE);
        }
        None => {
            return failed(
                format!("the command was killed ({status}) {aside}").trim_end().to_owned(),
                "COMMAND_KILLED",
                true,
            );
        }
    }
    if output.len() > limits::PAYLOAD_BYTES {
        let message = format!("the output has more than {} bytes", limits::PAYLOAD_BYTES);
        return failed(message, "OUTPUT_TOO_LARGE", false);
    }
    let output =
        if output.trim_ascii().is_empty() { Ok(Value::Null) } else { serde_json::from_slice(output) };
    match (output, updates) {
        (Ok(output), Ok(state_updates)) => Worked::Done { output, state_updates: state_updates.clone() },
        (Err(why), _) => failed(format!("the output is not JSON: {why}"), "OUTPUT_NOT_JSON", false),
        (Ok(_), Err(why)) => failed(why.clone(), "OUTPUT_NOT_JSON", false),
    }
}

fn failed(message: String, code: &'static str, retryable: bool) -> Worked {
    Worked::Failed { message, code, retryable }
}

/// Text without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// All of it is read, so that the command is not held up; what is too much is not kept.
async fn read_output(stdout: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut stdout) = stdout else { return kept };
    let mut chunk = vec![0; 8_192];
    while let Ok(count @ 1..) = stdout.read(&mut chunk).await {
        let room = (limits::PAYLOAD_BYTES + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
    kept
}

/// The end of what the command wrote to stderr.
async fn read_aside(stderr: Option<impl AsyncRead + Unpin>, aside: Aside) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let Some(mut stderr) = stderr else { return String::new() };
    let mut chunk = vec![0; 8_192];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..count]);
        let over = kept.len().saturating_sub(MESSAGE_BYTES);
        kept.drain(..over);
        if aside == Aside::PassedOn {
            // Nobody may be there to read it.
            let _ = tokio::io::stderr().write_all(&chunk[..count]).await;
        }
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

fn read_updates(path: &Path) -> Result<Option<Map<String, Value>>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("ABIDE_STATE_FILE cannot be read: {why}"))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|why| format!("ABIDE_STATE_FILE does not hold a JSON object: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn worked(command: &str) -> Worked {
        let task =
            json!({"id": "task_1", "runId": "run_1", "stepName": "s", "attempt": 2, "input": {"n": 7}});
        work(command, &task, None, Aside::Kept, &[]).await
    }

    #[tokio::test]
    async fn a_command_reads_its_task_and_writes_its_output() {
        let echoed = worked("cat").await;
        let Worked::Done { output, state_updates: None } = echoed else { panic!("{echoed:?}") };
        assert_eq!(output["input"], json!({"n": 7}));
        let told = worked("echo \"\\\"$ABIDE_TASK_ID $ABIDE_RUN_ID $ABIDE_STEP $ABIDE_ATTEMPT\\\"\"").await;
        assert_eq!(told, Worked::Done { output: json!("task_1 run_1 s 2"), state_updates: None });
        assert_eq!(worked("true").await, Worked::Done { output: Value::Null, state_updates: None });
    }

    #[tokio::test]
    async fn what_is_written_to_the_state_file_becomes_state() {
        let Worked::Done { output, state_updates: Some(updates) } =
            worked("echo '{\"score\": 80}' > \"$ABIDE_STATE_FILE\"; echo 1").await
        else {
            panic!("there are no updates")
        };
        assert_eq!((output, updates["score"].clone()), (json!(1), json!(80)));
    }

    #[tokio::test]
    async fn an_exit_code_says_whether_another_attempt_may_help() {
        let failed =
            |message: &str, code, retryable| Worked::Failed { message: message.to_owned(), code, retryable };
        assert_eq!(worked("echo no paper >&2; exit 3").await, failed("no paper", "COMMAND_FAILED", true));
        assert_eq!(worked("echo bad order >&2; exit 65").await, failed("bad order", "COMMAND_FAILED", false));
        assert_eq!(worked("exit 7").await, failed("the command exited with 7", "COMMAND_FAILED", true));
        let Worked::Failed { code: "COMMAND_KILLED", retryable: true, .. } = worked("kill -9 $$").await
        else {
            panic!("a killed command may be tried again")
        };
        let Worked::Failed { code: "OUTPUT_NOT_JSON", retryable: false, .. } = worked("echo hello").await
        else {
            panic!("text is not JSON")
        };
    }

    #[tokio::test]
    async fn an_output_over_the_limit_is_refused_and_holds_nobody_up() {
        let Worked::Failed { code: "OUTPUT_TOO_LARGE", .. } = worked("head -c 3000000 /dev/zero").await
        else {
            panic!("three megabytes are too many")
        };
    }

    #[test]
    fn keys_and_secrets_are_kept_back_from_commands_unless_they_are_passed_on() {
        let names =
            ["PATH", "ABIDE_API_KEY", "ABIDE_MASTER_KEY", "ABIDE_SECRET_STRIPE", "ABIDE_SERVER", "HOME"];
        let kept_back = |pass: &[String]| -> Vec<String> {
            let kept_back = kept_back(names.iter().map(OsString::from), pass);
            kept_back.map(|name| name.into_string().unwrap()).collect()
        };
        assert_eq!(kept_back(&[]), ["ABIDE_API_KEY", "ABIDE_MASTER_KEY", "ABIDE_SECRET_STRIPE"]);
        assert_eq!(kept_back(&["ABIDE_API_KEY".to_owned()]), ["ABIDE_MASTER_KEY", "ABIDE_SECRET_STRIPE"]);
    }

    #[test]
    fn a_handler_has_a_name_and_a_command() {
        assert_eq!(
            parse("send=./send.sh a=b").unwrap(),
            Named { name: "send".into(), command: "./send.sh a=b".into() }
        );
        for bad in ["send", "=x", "send= "] {
            assert!(parse(bad).unwrap_err().contains("send-email="), "{bad}");
        }
    }
}
