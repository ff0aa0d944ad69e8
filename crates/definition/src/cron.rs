//! Cron lines: the next time of a calendar rule in a time zone.
//!
//! A line has five fields (minute, hour, day of the month, month, weekday) or six, with seconds first, or is one of
//! `@yearly` `@annually` `@monthly` `@weekly` `@daily` `@hourly`. Besides `*`, lists, ranges, steps and names it may
//! say `L` (last day, or `5L`: the last Friday), `15W` (the working day nearest to the 15th) and `1#2` (the second
//! Monday). Where both a day of the month and a weekday are given, either counts; with `+` before the weekday both
//! must hold. There is no field for years.
//!
//! Lines are rules of the wall clock, and the wall clock jumps:
//! - What falls into an hour that is left out comes once, at the first instant after it. Only a line for every hour
//!   (`30 * * * *`) does without: it comes in the next hour anyway.
//! - In an hour that comes twice, a line comes the first time only, unless it is a rhythm, that is for every hour
//!   (`30 * * * *`) or with a `*` for the minutes (`*/10 1-3 * * *`): that goes on through both.
//!
//! Nothing here reads a clock or the machine's zones: the zone database is part of the program.

use std::fmt;
use std::sync::Arc;

use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::{DateTime, Time, date};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};

use crate::problem::nearest;

/// Longer lines are refused; a list of every minute has 169 characters.
const LINE_BYTES: usize = 1000;

const NICKNAMES: [(&str, &str); 6] = [
    ("@YEARLY", "0 0 1 1 *"),
    ("@ANNUALLY", "0 0 1 1 *"),
    ("@MONTHLY", "0 0 1 * *"),
    ("@WEEKLY", "0 0 * * 0"),
    ("@DAILY", "0 0 * * *"),
    ("@HOURLY", "0 * * * *"),
];
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// A checked cron line in its zone. It always has a next time, up to the year 5000. Cheap to clone.
#[derive(Clone)]
pub struct Cron {
    schedule: Arc<Schedule>,
}

struct Schedule {
    line: String,
    rule: croner::Cron,
    zone: TimeZone,
    is_every_hour: bool,
    is_rhythm: bool,
}

/// Why a cron line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    #[error("not a cron line: {0}")]
    BadLine(String),
    #[error("unknown time zone{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownZone { nearest: Option<String> },
    #[error("a time that never comes")]
    Never,
}

impl Cron {
    /// Without a zone, in UTC.
    pub fn parse(line: &str, zone: Option<&str>) -> Result<Cron, CronError> {
        let rule = parse_line(line)?;
        let zone = zone.map_or(Ok(TimeZone::UTC), find_zone)?;
        let (hours, minutes) = (&rule.pattern.hours, &rule.pattern.minutes);
        let is_every_hour = hours.values().len() == 24;
        let is_rhythm = is_every_hour || minutes.from_wildcard;
        let line = line.trim().to_owned();
        Ok(Cron { schedule: Arc::new(Schedule { line, rule, zone, is_every_hour, is_rhythm }) })
    }

    /// The line as it was written.
    pub fn line(&self) -> &str {
        &self.schedule.line
    }

    /// The name of the time zone that the line is read in.
    pub fn zone_name(&self) -> &str {
        self.schedule.zone.iana_name().unwrap_or("UTC")
    }

    /// The first time strictly after the instant; `None` after the year 5000.
    pub fn next_after(&self, instant: Timestamp) -> Option<Timestamp> {
        self.schedule.next_after(instant)
    }
}

impl Schedule {
    fn next_after(&self, instant: Timestamp) -> Option<Timestamp> {
        let offset = self.zone.to_offset(instant);
        let now = whole_seconds(offset.to_datetime(instant));
        let AmbiguousOffset::Fold { before, after } = self.zone.to_ambiguous_timestamp(now).offset() else {
            return self.instant_of(self.matching_after(now)?);
        };
        // The clock goes back: from `end` to `start`, at the turn.
        let turn = self.turn_to(after, before.to_timestamp(now).ok()?)?;
        let (start, end) = (after.to_datetime(turn), before.to_datetime(turn));
        let in_second_half = instant >= turn;
        if !in_second_half && let Some(next) = self.matching_after(now).filter(|next| *next < end) {
            return before.to_timestamp(next).ok();
        }
        if self.is_rhythm {
            let again = if in_second_half { self.matching_after(now) } else { self.matching_from(start) };
            if let Some(next) = again.filter(|next| *next < end) {
                return after.to_timestamp(next).ok();
            }
        }
        self.instant_of(self.matching_from(end)?)
    }

    /// When the wall clock shows this matching time for the first time, or would have.
    fn instant_of(&self, mut civil: DateTime) -> Option<Timestamp> {
        loop {
            match self.zone.to_ambiguous_timestamp(civil).offset() {
                AmbiguousOffset::Unambiguous { offset } => return offset.to_timestamp(civil).ok(),
                AmbiguousOffset::Fold { before, .. } => return before.to_timestamp(civil).ok(),
                AmbiguousOffset::Gap { after, .. } => {
                    let turn = self.turn_to(after, after.to_timestamp(civil).ok()?)?;
                    if !self.is_every_hour {
                        return Some(turn);
                    }
                    civil = self.matching_from(after.to_datetime(turn))?;
                }
            }
        }
    }

    /// When the zone next changes to the offset.
    fn turn_to(&self, offset: Offset, from: Timestamp) -> Option<Timestamp> {
        self.zone.following(from).find(|turn| turn.offset() == offset).map(|turn| turn.timestamp())
    }

    fn matching_after(&self, civil: DateTime) -> Option<DateTime> {
        self.rule.find_next_occurrence(&civil, false).ok()
    }

    fn matching_from(&self, civil: DateTime) -> Option<DateTime> {
        self.rule.find_next_occurrence(&civil, true).ok()
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({:?} in {})", self.line(), self.zone_name())
    }
}

fn whole_seconds(civil: DateTime) -> DateTime {
    civil.with().subsec_nanosecond(0).build().unwrap_or(civil)
}

fn find_zone(name: &str) -> Result<TimeZone, CronError> {
    let zones = TimeZoneDatabase::bundled();
    if let Ok(zone) = zones.get(name)
        && !zone.is_unknown()
    {
        return Ok(zone);
    }
    let known: Vec<String> = zones.available().map(|zone| zone.to_string()).collect();
    // People leave out the continent.
    let city = |zone: &&str| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(name));
    let names = || known.iter().map(String::as_str);
    let nearest = names().find(city).or_else(|| nearest(name, names())).map(str::to_owned);
    Err(CronError::UnknownZone { nearest })
}

fn parse_line(line: &str) -> Result<croner::Cron, CronError> {
    let bad = |message: String| Err(CronError::BadLine(message));
    if line.len() > LINE_BYTES {
        return bad(format!("{} characters; the limit is {LINE_BYTES}", line.len()));
    }
    if !line.is_ascii() {
        return bad("it holds a character that is not ASCII".to_owned());
    }
    let line = line.trim().to_ascii_uppercase();
    let line = match NICKNAMES.iter().find(|(name, _)| *name == line) {
        Some((_, meaning)) => meaning,
        None => line.as_str(),
    };
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let names: &[&str] = match fields.len() {
        5 => &FIELDS[1..],
        6 => &FIELDS,
        count => return bad(format!("{count} fields; a line has five, or six with seconds first")),
    };
    for (name, field) in names.iter().zip(&fields) {
        if let Err(problem) = check_field(name, field) {
            return bad(format!("the {name} `{field}`: {problem}"));
        }
    }
    let rule = read(line).map_err(|error| {
        // One field at a time, to say which it is.
        let culprit = (0..fields.len()).find_map(|place| {
            let mut alone = vec!["*"; fields.len()];
            alone[place] = fields[place];
            let error = read(&alone.join(" ")).err()?;
            Some(format!("the {} `{}`: {}", names[place], fields[place], reason(&error)))
        });
        CronError::BadLine(culprit.unwrap_or_else(|| reason(&error)))
    })?;
    if comes(&rule) { Ok(rule) } else { Err(CronError::Never) }
}

fn read(line: &str) -> Result<croner::Cron, croner::errors::CronError> {
    CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build().parse(line)
}

/// Whether a rule ever comes. Years differ in their first weekday and in being leap years, and all fourteen kinds are
/// among these 28. The search of the rule itself would go on for three thousand.
fn comes(rule: &croner::Cron) -> bool {
    let first = |values: Vec<u16>| values.first().and_then(|value| i8::try_from(*value).ok());
    let pattern = &rule.pattern;
    let time = || {
        let (hour, minute) = (first(pattern.hours.values())?, first(pattern.minutes.values())?);
        Time::new(hour, minute, first(pattern.seconds.values())?, 0).ok()
    };
    let days = date(2000, 1, 1).series(1.day()).take_while(|day| day.year() < 2028);
    time().is_some_and(|time| {
        let mut times = days.map(|day| day.to_datetime(time));
        times.any(|time| rule.is_time_matching(&time).unwrap_or(false))
    })
}

const FIELDS: [&str; 6] = ["second", "minute", "hour", "day of the month", "month", "weekday"];

/// What the parser would take for something else: empty entries, and names glued to digits or in the wrong field.
fn check_field(name: &str, field: &str) -> Result<(), String> {
    let field = if name == "weekday" { field.strip_prefix('+').unwrap_or(field) } else { field };
    for entry in field.split(',') {
        if entry.is_empty() {
            return Err("an empty entry".to_owned());
        }
        for word in entry.split(['-', '/', '#']) {
            let unknown = match name {
                "month" => !is_number(word) && !MONTHS.contains(&word),
                "weekday" => {
                    let day = word.strip_suffix('L').unwrap_or(word);
                    !is_number(day) && !WEEKDAYS.contains(&day)
                }
                "day of the month" => !is_number(word.trim_matches(['L', 'W'])),
                _ => !is_number(word),
            };
            if unknown {
                return Err(format!("`{word}` means nothing there"));
            }
        }
    }
    Ok(())
}

/// Also the empty word, which the parser refuses, and the wildcards.
fn is_number(word: &str) -> bool {
    word == "*" || word == "?" || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The parser's message without its preamble.
fn reason(error: &croner::errors::CronError) -> String {
    let message = error.to_string();
    let reason = message.split_once(": ").map_or(message.as_str(), |(_, reason)| reason);
    reason.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests;
