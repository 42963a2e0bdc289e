//! Queue between a task and a thread that reads or writes the disk, so that a slow disk does not delay the task.
//!
//! **Call order:** [`disk_queue`] creates both ends. The task adds requests and receives replies. The thread
//! calls [`next`](DiskThread::next), executes the request and calls [`reply`](DiskThread::reply), until `next`
//! returns `None`. The thread gets the requests in the order in which they were added. The task gets the replies in
//! the order in which the thread sent them.

use std::fmt;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc};

/// The task's end of a queue.
pub struct DiskQueue<T, R> {
    requests: mpsc::UnboundedSender<(T, Option<Slot>)>,
    replies: mpsc::UnboundedReceiver<R>,
    slots: Slots,
}

/// The thread's end of a queue.
pub struct DiskThread<T, R> {
    requests: mpsc::UnboundedReceiver<(T, Option<Slot>)>,
    replies: mpsc::UnboundedSender<R>,
    slots: Slots,
    /// Slot of the request in progress.
    current: Option<Slot>,
}

/// Slots of a queue. Each request occupies one until the thread has executed it.
#[derive(Debug, Clone)]
pub struct Slots(Arc<Semaphore>);

/// One reserved slot. It becomes free when dropped, or after its request.
#[derive(Debug)]
pub struct Slot(#[expect(dead_code, reason = "held for its `Drop`")] OwnedSemaphorePermit);

/// Reason why a request can't be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// All slots are occupied.
    #[error("the queue of the disk is full")]
    Full,
    /// The thread has ended.
    #[error("the thread for the disk has ended")]
    Closed,
}

/// Creates a queue with this number of slots.
#[must_use]
pub fn disk_queue<T, R>(slots: usize) -> (DiskQueue<T, R>, DiskThread<T, R>) {
    let slots = Slots(Arc::new(Semaphore::new(slots)));
    let (requests, waiting) = mpsc::unbounded_channel();
    let (sender, replies) = mpsc::unbounded_channel();
    let queue = DiskQueue {
        requests,
        replies,
        slots: slots.clone(),
    };
    let thread = DiskThread {
        requests: waiting,
        replies: sender,
        slots,
        current: None,
    };
    (queue, thread)
}

impl<T, R> DiskQueue<T, R> {
    /// Adds a request.
    ///
    /// # Errors
    /// [`QueueError`] if no slot is free or the thread has ended.
    pub fn try_put(&self, request: T) -> Result<(), QueueError> {
        self.add(request, Some(self.slots.try_reserve()?))
    }

    /// Waits for a free slot and adds a request.
    ///
    /// # Errors
    /// [`QueueError::Closed`] if the thread has ended.
    pub async fn put(&self, request: T) -> Result<(), QueueError> {
        self.add(request, Some(self.slots.reserve().await?))
    }

    /// Adds a request with a slot that was reserved for it.
    ///
    /// # Errors
    /// [`QueueError::Closed`] if the thread has ended.
    pub fn put_reserved(&self, slot: Slot, request: T) -> Result<(), QueueError> {
        self.add(request, Some(slot))
    }

    /// Adds a request without a slot. For short requests whose number has another limit.
    ///
    /// # Errors
    /// [`QueueError::Closed`] if the thread has ended.
    pub fn put_unlimited(&self, request: T) -> Result<(), QueueError> {
        self.add(request, None)
    }

    /// The slots of the queue, for tasks that reserve one before they send their request to this task.
    #[must_use]
    pub fn slots(&self) -> Slots {
        self.slots.clone()
    }

    /// Waits for the next reply; `None` if the thread has ended. Cancellation safe.
    pub async fn reply(&mut self) -> Option<R> {
        self.replies.recv().await
    }

    /// Closes the queue and waits until the thread has executed all requests. Returns the remaining replies. Not
    /// cancellation safe: the replies so far are lost.
    pub async fn finish(&mut self) -> Vec<R> {
        // Closes the queue. A sender without a receiver replaces its sender, so later requests are errors.
        self.requests = mpsc::unbounded_channel().0;
        let mut remaining = Vec::new();
        while let Some(reply) = self.reply().await {
            remaining.push(reply);
        }
        remaining
    }

    fn add(&self, request: T, slot: Option<Slot>) -> Result<(), QueueError> {
        self.requests.send((request, slot)).map_err(|_| QueueError::Closed)
    }
}

impl Slots {
    /// Waits for a free slot. Tasks get slots in the order in which they began to wait.
    ///
    /// # Errors
    /// [`QueueError::Closed`] if the thread has ended.
    pub async fn reserve(&self) -> Result<Slot, QueueError> {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        permit.map(Slot).map_err(|_| QueueError::Closed)
    }

    fn try_reserve(&self) -> Result<Slot, QueueError> {
        let permit = Arc::clone(&self.0).try_acquire_owned();
        permit.map(Slot).map_err(|error| match error {
            TryAcquireError::NoPermits => QueueError::Full,
            TryAcquireError::Closed => QueueError::Closed,
        })
    }
}

impl<T, R> DiskThread<T, R> {
    /// Waits for the next request; `None` if the queue is closed and empty. The previous request counts as
    /// executed. Blocks.
    #[expect(clippy::should_implement_trait, reason = "replies are sent between two requests")]
    pub fn next(&mut self) -> Option<T> {
        self.current = None;
        let (request, slot) = self.requests.blocking_recv()?;
        self.current = slot;
        Some(request)
    }

    /// Sends a reply. Does not block.
    pub fn reply(&self, reply: R) {
        // Fails only if the task has ended.
        let _ = self.replies.send(reply);
    }
}

impl<T, R> Drop for DiskThread<T, R> {
    fn drop(&mut self) {
        self.slots.0.close();
    }
}

impl<T, R> fmt::Debug for DiskQueue<T, R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("DiskQueue").finish_non_exhaustive()
    }
}

impl<T, R> fmt::Debug for DiskThread<T, R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("DiskThread").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    /// Result of a future that does not have to wait.
    fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn a_request_waits_for_a_slot_until_an_earlier_one_is_executed() {
        let (queue, mut thread) = disk_queue::<u32, ()>(2);
        assert_eq!((queue.try_put(1), queue.try_put(2)), (Ok(()), Ok(())));
        assert_eq!(queue.try_put(3), Err(QueueError::Full));
        assert_eq!(at_once(queue.put(3)), None);
        // A request without a slot does not wait, and keeps its place.
        queue.put_unlimited(4).unwrap();
        assert_eq!(thread.next(), Some(1));
        assert_eq!(queue.try_put(5), Err(QueueError::Full), "the first is in progress");
        assert_eq!(thread.next(), Some(2));
        assert_eq!(at_once(queue.put(5)), Some(Ok(())));
        assert_eq!((thread.next(), thread.next()), (Some(4), Some(5)));
    }

    #[test]
    fn a_reserved_slot_becomes_free_when_it_is_dropped() {
        let (queue, mut thread) = disk_queue::<u32, ()>(1);
        let slots = queue.slots();
        let slot = at_once(slots.reserve()).unwrap().unwrap();
        assert!(at_once(slots.reserve()).is_none());
        drop(slot);
        let slot = at_once(slots.reserve()).unwrap().unwrap();
        queue.put_reserved(slot, 1).unwrap();
        assert!(at_once(slots.reserve()).is_none());
        assert_eq!(thread.next(), Some(1));
        thread.current = None;
        assert!(at_once(slots.reserve()).is_some());
    }

    #[test]
    fn the_end_of_the_thread_is_an_error_and_wakes_waiting_tasks() {
        let (mut queue, thread) = disk_queue::<u32, u32>(1);
        queue.try_put(1).unwrap();
        let slots = queue.slots();
        let waiting = std::thread::spawn(move || block_on(slots.reserve()).map(drop));
        thread.reply(7);
        drop(thread);
        assert_eq!(waiting.join().unwrap(), Err(QueueError::Closed));
        assert_eq!(queue.try_put(2), Err(QueueError::Closed));
        assert_eq!(queue.put_unlimited(2), Err(QueueError::Closed));
        assert_eq!(block_on(queue.put(2)), Err(QueueError::Closed));
        // Replies from before the end are received.
        assert_eq!((block_on(queue.reply()), block_on(queue.reply())), (Some(7), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// With any number of slots, any mix of requests with and without one, and a disk that is slow at any of
        /// them: all are executed in order, also those that wait when the queue is closed. The requests with a slot
        /// that are not executed never exceed the slots.
        #[test]
        fn all_requests_are_executed_in_order(slots in 1..5_usize, kinds in prop::collection::vec(0..8_u8, 0..60)) {
            let (mut queue, mut thread) = disk_queue::<usize, usize>(slots);
            let executed = Arc::new(AtomicUsize::new(0));
            let executing = std::thread::spawn({
                let (kinds, executed) = (kinds.clone(), Arc::clone(&executed));
                move || {
                    while let Some(number) = thread.next() {
                        if kinds[number] >= 6 {
                            std::thread::yield_now();
                        }
                        thread.reply(number);
                        executed.fetch_add(usize::from(has_slot(kinds[number])), Ordering::SeqCst);
                    }
                }
            });
            let (replies, most) = block_on(async {
                let (mut added, mut most) = (0, 0);
                for (number, kind) in kinds.iter().enumerate() {
                    if has_slot(*kind) {
                        queue.put(number).await.unwrap();
                        added += 1;
                        most = most.max(added - executed.load(Ordering::SeqCst));
                    } else {
                        queue.put_unlimited(number).unwrap();
                    }
                }
                (queue.finish().await, most)
            });
            executing.join().unwrap();
            prop_assert_eq!(replies, (0..kinds.len()).collect::<Vec<_>>());
            prop_assert!(most <= slots, "{most} of {slots}");
            prop_assert_eq!(queue.try_put(0), Err(QueueError::Closed));
        }
    }

    fn has_slot(kind: u8) -> bool {
        kind.is_multiple_of(2)
    }
}
