//! Lengths of time and instants.

use super::Compiler;
use super::text::OPENING;
use crate::cron::{Cron, CronError};
use crate::document::Wait;
use crate::findings::quoted;
use crate::limits;
use crate::problem::{Code, Problem};
use crate::time::Millis;
use crate::{Deadline, OnTimeout, Until, document};

impl Compiler<'_> {
    pub(super) fn timeout(&mut self, ms: Option<u64>, text: Option<&str>) -> Option<Millis> {
        self.length("timeoutMs", ms, "timeout", text)
    }

    pub(super) fn deadline(
        &mut self,
        ms: Option<u64>,
        text: Option<&str>,
        on_timeout: Option<&document::OnTimeout>,
        default: OnTimeout,
    ) -> Deadline {
        let timeout = self.timeout(ms, text);
        Deadline { timeout, on_timeout: self.on_timeout("onTimeout", on_timeout).unwrap_or(default) }
    }

    /// A length that may be given in milliseconds or as text.
    pub(super) fn length(
        &mut self,
        ms_field: &str,
        ms: Option<u64>,
        text_field: &str,
        text: Option<&str>,
    ) -> Option<Millis> {
        if let (Some(_), Some(_)) = (ms, text) {
            let at = self.place.field(text_field);
            self.findings.problem(|| {
                let message = format!("`{ms_field}` and `{text_field}` are both given");
                Problem::new(at, Code::Contradiction, message).expected("one of them")
            });
        }
        let from_ms = ms.and_then(|ms| self.within_limits(ms_field, Millis(ms)));
        let from_text = text.and_then(|text| self.length_text(text_field, text));
        from_ms.or(from_text)
    }

    pub(super) fn length_text(&mut self, field: &str, text: &str) -> Option<Millis> {
        match Millis::parse(text) {
            Ok(length) => self.within_limits(field, length),
            Err(error) => {
                let at = self.place.field(field);
                self.findings.problem(|| {
                    Problem::new(at, Code::BadDuration, format!("{}: {error}", quoted(text)))
                        .expected("a duration such as `30s`, `2d 4h` or `PT30M`")
                });
                None
            }
        }
    }

    fn within_limits(&mut self, field: &str, length: Millis) -> Option<Millis> {
        let at = self.place.field(field);
        // In milliseconds the schema refuses it already.
        if length == Millis(0)
            && ["timeout", "heartbeat", "remindAfter", "escalateAfter", "per", "quiet", "atMost"]
                .contains(&field)
        {
            self.findings.problem(|| {
                Problem::new(at, Code::OutOfRange, "nothing can happen in no time").expected("at least `1ms`")
            });
            return None;
        }
        let max_wait = self.findings.max_wait();
        if length > max_wait {
            self.findings.problem(|| {
                let message = format!("{length} is longer than the limit of {max_wait}");
                Problem::new(at, Code::LimitExceeded, message)
            });
            return None;
        }
        // Looking back further costs nothing and makes nobody wait.
        if length > limits::WAIT_WITHOUT_WARNING && !field.starts_with("lookback") {
            self.findings.warning(|| {
                Problem::new(at, Code::LongWait, format!("{length} is a long time"))
                    .expected(format!("at most {}, unless it is meant", limits::WAIT_WITHOUT_WARNING))
            });
        }
        Some(length)
    }

    pub(super) fn until(&mut self, wait: &Wait) -> Option<Until> {
        let given = [
            ("durationMs", wait.duration_ms.is_some()),
            ("duration", wait.duration.is_some()),
            ("untilTimestamp", wait.until_timestamp.is_some()),
            ("cron", wait.cron.is_some()),
        ];
        let names: Vec<String> =
            given.iter().filter(|(_, given)| *given).map(|(name, _)| format!("`{name}`")).collect();
        if names.len() != 1 {
            let at = self.place.pointer.clone();
            self.findings.problem(|| {
                let message = match names.as_slice() {
                    [] => "it is not said how long to wait".to_owned(),
                    names => format!("{} exclude each other", names.join(" and ")),
                };
                Problem::new(at, Code::Contradiction, message)
                    .expected("exactly one of `durationMs`, `duration`, `untilTimestamp` and `cron`")
            });
        }
        if wait.timezone.is_some() && wait.cron.is_none() {
            let at = self.place.field("timezone");
            self.findings.problem(|| {
                Problem::new(at, Code::Contradiction, "`timezone` belongs to `cron`, which is not given")
            });
        }
        let by_ms =
            wait.duration_ms.and_then(|ms| self.within_limits("durationMs", Millis(ms))).map(Until::For);
        let by_length = wait.duration.as_deref().and_then(|text| self.until_length(text));
        let by_instant = wait.until_timestamp.as_deref().and_then(|text| self.until_instant(text));
        let by_cron = wait.cron.as_deref().and_then(|line| self.until_cron(line, wait.timezone.as_deref()));
        by_ms.or(by_length).or(by_instant).or(by_cron).filter(|_| names.len() == 1)
    }

    fn until_length(&mut self, text: &str) -> Option<Until> {
        if text.contains(OPENING) {
            return self.text_template("duration", text).map(Until::ForRendered);
        }
        self.length_text("duration", text).map(Until::For)
    }

    fn until_instant(&mut self, text: &str) -> Option<Until> {
        const FIELD: &str = "untilTimestamp";
        if text.contains(OPENING) {
            return self.text_template(FIELD, text).map(Until::InstantRendered);
        }
        match crate::time::instant(text) {
            Some(instant) => Some(Until::Instant(instant)),
            None => {
                let at = self.place.field(FIELD);
                self.findings.problem(|| {
                    Problem::new(at, Code::BadTimestamp, format!("{} is not an instant", quoted(text)))
                        .expected("RFC 3339 with a zone offset, such as `2026-04-15T09:00:00Z`")
                });
                None
            }
        }
    }

    fn until_cron(&mut self, line: &str, zone: Option<&str>) -> Option<Until> {
        let at_line = self.place.field("cron");
        let problem = match Cron::parse(line, zone) {
            Ok(cron) => return Some(Until::Cron(Box::new(cron))),
            Err(CronError::BadLine(reason)) => {
                Problem::new(at_line, Code::BadCron, format!("{} cannot be read: {reason}", quoted(line)))
                    .expected("a cron line such as `0 9 * * 1-5`")
            }
            Err(CronError::Never) => {
                Problem::new(at_line, Code::BadCron, format!("the time of {} never comes", quoted(line)))
                    .expected("a cron line with a next time")
            }
            Err(CronError::UnknownZone { nearest }) => {
                let message = format!("there is no time zone {}", quoted(zone.unwrap_or_default()));
                let at = self.place.field("timezone");
                let mut problem = Problem::new(at, Code::UnknownZone, message)
                    .expected("an IANA zone such as `Europe/Berlin`");
                problem.nearest = nearest;
                problem
            }
        };
        self.findings.problem(|| problem);
        None
    }
}
