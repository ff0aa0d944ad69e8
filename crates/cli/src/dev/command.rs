//! The command that runs beside the server: started, started again when it ends or is told to, and ended with all that it
//! has started itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::say::{Mark, Teller};
use crate::{handler, terminal};

/// The pauses before it is started again: each is twice the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A command that has lived this long begins with the first pause again.
const IS_WELL_AFTER: Duration = Duration::from_secs(10);
/// What a command is given to end: a worker finishes its tasks, gives them back when it is told a second time, and is killed
/// in the end.
const TO_FINISH: Duration = Duration::from_secs(2);
const TO_GIVE_BACK: Duration = Duration::from_secs(3);
const TO_DIE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What is shown of it.
const SHOWN_CHARS: usize = 60;
/// Reasons to start again that may wait; they come to the same.
const ORDERS: usize = 16;

/// What is run, and where its server is.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) words: Vec<OsString>,
    pub(super) server: String,
}

impl Recipe {
    /// As it was written, for people, and not longer than a line.
    fn shown(&self) -> String {
        let words = self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>();
        terminal::shortened(&words.join(" "), SHOWN_CHARS)
    }

    fn command(&self) -> Command {
        let mut command = match self.words.as_slice() {
            // A whole line in quotes is one for the shell.
            [line] if line.to_string_lossy().contains(char::is_whitespace) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(line);
                shell
            }
            [program, arguments @ ..] => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            [] => Command::new(OsStr::new("true")),
        };
        // The server needs no key, and would refuse one of another server.
        for name in handler::kept_back(std::env::vars_os().map(|(name, _)| name), &[]) {
            command.env_remove(name);
        }
        command.env("ABIDE_SERVER", &self.server).stdin(Stdio::null()).kill_on_drop(true);
        // An interrupt at the terminal is for us; the command is ended when its time has come.
        #[cfg(unix)]
        command.process_group(0);
        command
    }
}

/// Keeps the command running, until it is dropped or ended.
#[derive(Debug)]
pub(super) struct Supervisor {
    orders: mpsc::Sender<String>,
    task: JoinHandle<()>,
    group: Arc<AtomicI32>,
}

impl Supervisor {
    pub(super) fn start(recipe: Recipe, teller: Teller) -> Supervisor {
        let (orders, reasons) = mpsc::channel(ORDERS);
        let group = Arc::new(AtomicI32::new(0));
        let task = tokio::spawn(live(recipe, teller, reasons, Arc::clone(&group)));
        Supervisor { orders, task, group }
    }

    /// Ends what runs and starts it again.
    pub(super) fn restart(&self, why: &str) {
        // If there is no room, it is about to be started again anyway.
        drop(self.orders.try_send(why.to_owned()));
    }

    /// What kills all of it at once, if there is no more time.
    pub(super) fn last_resort(&self) -> impl Fn() + use<> {
        let group = Arc::clone(&self.group);
        move || signal(group.load(Ordering::Relaxed), Blow::Kill)
    }

    /// Ends it, politely first. What comes back is done when nothing of it is left.
    pub(super) fn end(self) -> JoinHandle<()> {
        self.task
    }
}

async fn live(recipe: Recipe, teller: Teller, mut reasons: mpsc::Receiver<String>, group: Arc<AtomicI32>) {
    let shown = recipe.shown();
    let mut pauses = Pauses::default();
    loop {
        let begun = Instant::now();
        let why = match Group::start(&recipe, &group) {
            Err(why) => format!("`{shown}` cannot be started: {why}"),
            Ok(mut running) => {
                teller.say(Mark::Good, format!("`{shown}` started")).await;
                tokio::select! {
                    status = running.child.wait() => {
                        running.end().await;
                        format!("`{shown}` {} after {}", described(&status), lasted(begun.elapsed()))
                    }
                    reason = reasons.recv() => {
                        let Some(reason) = reason else { return running.end().await };
                        teller.say(Mark::Again, format!("{reason}; `{shown}` is started again")).await;
                        running.end().await;
                        pauses = Pauses::default();
                        while reasons.try_recv().is_ok() {}
                        continue;
                    }
                }
            }
        };
        let pause = pauses.next(begun.elapsed());
        teller.say(Mark::Bad, format!("{why}; again in {}", lasted(pause))).await;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            reason = reasons.recv() => match reason {
                Some(reason) => {
                    teller.say(Mark::Again, format!("{reason}; `{shown}` is started again")).await;
                    pauses = Pauses::default();
                }
                None => return,
            }
        }
    }
}

/// How long to wait before the next start.
#[derive(Debug, Default)]
struct Pauses {
    last: Option<Duration>,
}

impl Pauses {
    fn next(&mut self, lived: Duration) -> Duration {
        let pause = match self.last.filter(|_| lived < IS_WELL_AFTER) {
            Some(last) => (last * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        self.last = Some(pause);
        pause
    }
}

/// A process with all that it started.
struct Group {
    child: Child,
    id: Arc<AtomicI32>,
}

#[derive(Clone, Copy)]
enum Blow {
    Terminate,
    Kill,
}

impl Group {
    fn start(recipe: &Recipe, id: &Arc<AtomicI32>) -> io::Result<Group> {
        let child = recipe.command().spawn()?;
        let started = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        id.store(started, Ordering::Relaxed);
        Ok(Group { child, id: Arc::clone(id) })
    }

    async fn end(&mut self) {
        let id = self.id.load(Ordering::Relaxed);
        for (blow, time) in
            [(Blow::Terminate, TO_FINISH), (Blow::Terminate, TO_GIVE_BACK), (Blow::Kill, TO_DIE)]
        {
            signal(id, blow);
            if tokio::time::timeout(time, self.gone(id)).await.is_ok() {
                break;
            }
        }
        self.id.store(0, Ordering::Relaxed);
    }

    /// Returns when nobody of the group is left.
    async fn gone(&mut self, id: i32) {
        drop(self.child.wait().await);
        while is_there(id) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        signal(self.id.swap(0, Ordering::Relaxed), Blow::Kill);
    }
}

#[cfg(unix)]
fn signal(group: i32, blow: Blow) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match blow {
        Blow::Terminate => Signal::TERM,
        Blow::Kill => Signal::KILL,
    };
    if let Some(group) = Pid::from_raw(group) {
        // It may be gone already.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(unix)]
fn is_there(group: i32) -> bool {
    let group = rustix::process::Pid::from_raw(group);
    group.is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok())
}

/// The command alone is killed when it is dropped.
#[cfg(not(unix))]
fn signal(_group: i32, _blow: Blow) {}

#[cfg(not(unix))]
fn is_there(_group: i32) -> bool {
    false
}

fn described(status: &io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => match status.code() {
            Some(code) => format!("exited with {code}"),
            None => format!("was ended by a {status}"),
        },
        Err(why) => format!("cannot be watched ({why})"),
    }
}

/// `700ms`, `4s`, `3m 20s`
fn lasted(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{}ms", time.as_millis()),
        seconds @ 1..60 => format!("{seconds}s"),
        seconds => format!("{}m {}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_begin_anew_after_a_long_life() {
        let mut pauses = Pauses::default();
        let short = Duration::from_secs(1);
        let grown: Vec<u128> = (0..7).map(|_| pauses.next(short).as_millis()).collect();
        assert_eq!(grown, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
        assert_eq!(pauses.next(IS_WELL_AFTER), FIRST_PAUSE);
    }

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        let told: Vec<String> = [20, 4_100, 200_000].map(Duration::from_millis).map(lasted).into();
        assert_eq!(told, ["20ms", "4s", "3m 20s"]);
    }
}
