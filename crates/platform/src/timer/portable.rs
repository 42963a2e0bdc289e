//! Systems other than Linux and Windows.

use super::*;
use std::pin::Pin;
use tokio::time::{Sleep, sleep};

#[derive(Debug)]
pub(super) struct Timer {
    sleep: Option<(Monotonic, Pin<Box<Sleep>>)>,
}

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { sleep: None })
    }

    pub(super) fn poll_until(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
        let now = Monotonic::now();
        if now >= at {
            return Poll::Ready(());
        }
        if self.sleep.as_ref().is_none_or(|(armed, _)| *armed != at) {
            let left = std::time::Duration::from_nanos(at.saturating_since(now).as_nanos());
            self.sleep = Some((at, Box::pin(sleep(left))));
        }
        let (_, sleep) = self.sleep.as_mut().expect("armed above");
        sleep.as_mut().poll(cx)
    }
}

pub(super) fn set_timer_slack(_nanos: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
