//! `abide top`: what waits, runs and is late, refreshed in place.

mod frame;
mod look;
mod metrics;
mod screen;
mod snapshot;
mod view;

use std::io::{self, IsTerminal};
use std::time::Duration;

use abide_definition::time::Millis;
use clap::Args;

use self::frame::{Size, frame};
use self::look::{Look, Window};
use self::screen::Screen;
use self::snapshot::Snapshot;
use self::view::View;
use super::Api;
use crate::client::{Client, Error};
use crate::console::Console;
use crate::stop::StopSignals;
use crate::times;

/// A server is not asked more often than this.
const SHORTEST: Duration = Duration::from_millis(100);
/// How wide a frame is where there is no terminal.
const WIDTH: usize = 80;

/// Watch what waits, runs and is late.
#[derive(Debug, Args)]
#[command(
    after_help = "Keys: q quits, tab and 1 to 4 choose the list, s its order, p pauses. A tall terminal shows several lists.\n\nRates and quantiles are those of the last 30 seconds. What concerns the whole server (rates, tasks, commits, the process) is shown to\nan admin key of the default workspace; other keys see their runs, waits and workers.\n\nWhere the output is no terminal, it is one frame, as with --once. With --json it is one object a line.\n\nExamples:\n  abide top\n  abide top --every 500ms\n  abide top --once\n  abide top --once --json | jq .overdue\n  abide top --server https://abide.example.com"
)]
pub(crate) struct Top {
    /// Time from one look at the server to the next
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = times::parse_length)]
    every: Millis,
    /// Look twice, so that there are rates, write one frame, and end
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    api: Api,
}

impl Top {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let every = Duration::from_millis(self.every.0).max(SHORTEST);
        let mut window = Window::default();
        window.add(Look::take(&client).await?);
        if !self.once && !self.api.json && io::stdout().is_terminal() && io::stdin().is_terminal() {
            return watch(&client, every, window).await;
        }
        loop {
            window.add(after(every, &client).await?);
            self.write(console, &client, &window)?;
            if self.once || !self.api.json {
                return Ok(());
            }
        }
    }

    fn write(&self, console: &mut Console<'_>, client: &Client, window: &Window) -> Result<(), Error> {
        let Some((first, last)) = window.ends() else { return Ok(()) };
        let mut snapshot = Snapshot::of(client.server(), first, last);
        if self.api.json {
            let text = serde_json::to_string(&snapshot).map_err(io::Error::from)?;
            return Ok(console.raw(&text)?);
        }
        let view = View::new();
        view.arrange(&mut snapshot);
        let size = Size { width: console.width.unwrap_or(WIDTH), height: None };
        for line in frame(&snapshot, &view, None, size) {
            console.line(&line.text)?;
        }
        Ok(())
    }
}

async fn after(every: Duration, client: &Client) -> Result<Look, Error> {
    tokio::time::sleep(every).await;
    Look::take(client).await
}

/// Until somebody has seen enough. A server that does not answer is asked again: it may be on its way back.
async fn watch(client: &Client, every: Duration, mut window: Window) -> Result<(), Error> {
    let mut stop = StopSignals::listen_to_hangups_too()?;
    let mut resized = Resized::listen()?;
    let screen = Screen::enter()?;
    let mut pressed = screen::pressed();
    let (mut view, mut trouble) = (View::new(), None::<String>);
    let mut next = Box::pin(after(every, client));
    loop {
        if let Some((first, last)) = window.ends() {
            let mut snapshot = Snapshot::of(client.server(), first, last);
            view.arrange(&mut snapshot);
            screen.draw(&frame(&snapshot, &view, trouble.as_deref(), Screen::size()))?;
        }
        tokio::select! {
            key = pressed.recv() => match key {
                Some(key) if view.press(key) => {}
                Some(_) | None => return Ok(()),
            },
            look = &mut next, if !view.is_paused => {
                trouble = look.map(|look| window.add(look)).err().map(|error| error.to_string());
                next = Box::pin(after(every, client));
            }
            () = resized.next() => {}
            () = stop.next() => return Ok(()),
        }
    }
}

/// Hears when the terminal gets another size.
struct Resized {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Resized {
    fn listen() -> io::Result<Resized> {
        Ok(Resized {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        self.signal.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
