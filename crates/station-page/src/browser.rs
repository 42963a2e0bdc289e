//! Inputs from the browser, and effects on it. Both are JSON. An input has one key, its type. Times are in ns of the page's clock, whose zero survives reloads.

use crate::view::View;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Strings by key.
pub type Entries = BTreeMap<String, String>;

/// Event of the browser.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The page was loaded. The first input.
    Load(Box<Loaded>),
    /// The address has another fragment.
    Key {
        /// The fragment, with `#`.
        hash: String,
    },
    /// The user joins with this name.
    Join {
        /// Name as entered, in the normalization form NFKD.
        name: String,
    },
    /// The user leaves, or dismisses a result.
    Leave {},
    /// The page went to the background, or came back.
    Hidden {
        /// True in the background.
        hidden: bool,
    },
    /// A write of [`Effect::Store`] is complete.
    Stored {
        /// Number of the write.
        number: u64,
    },
    /// A WebSocket is open.
    Opened {
        /// Number of the socket.
        socket: u64,
    },
    /// A message arrived.
    Text {
        /// Number of the socket.
        socket: u64,
        /// The message.
        text: String,
    },
    /// A WebSocket was closed, or could not be opened.
    Closed {
        /// Number of the socket.
        socket: u64,
    },
    /// The response to [`Effect::Get`].
    Response {
        /// Number of the request.
        get: u64,
        /// HTTP status.
        status: u16,
        /// Content.
        text: String,
    },
    /// [`Effect::Get`] failed.
    Unreachable {
        /// Number of the request.
        get: u64,
    },
    /// A data channel was created.
    Channel {
        /// Number of the connection.
        connection: u64,
    },
    /// The offer of the browser for a data channel.
    Offer {
        /// Number of the connection.
        connection: u64,
        /// Session description (RFC 8839).
        sdp: String,
    },
    /// A data channel is open.
    ChannelOpen {
        /// Number of the connection.
        connection: u64,
    },
    /// A data channel failed, or was closed.
    ChannelClosed {
        /// Number of the connection.
        connection: u64,
    },
    /// The browser rejects a connection.
    ConnectionFailed {
        /// Number of the connection.
        connection: u64,
        /// The browser's reason.
        error: String,
    },
    /// The response to a transfer began.
    Status {
        /// Number of the transfer.
        request: u64,
        /// HTTP status.
        status: u16,
    },
    /// Content was received.
    Bytes {
        /// Number of the transfer.
        request: u64,
        /// Bytes since the last input of the transfer.
        bytes: u64,
    },
    /// Content was sent.
    Sent {
        /// Number of the transfer.
        request: u64,
        /// All bytes so far.
        total: u64,
    },
    /// The response to a transfer is complete.
    Finished {
        /// Number of the transfer.
        request: u64,
        /// Time at which the browser began to connect. Both times are equal for a connection that was open before.
        connect_start: i64,
        /// Time at which the connection was established.
        connect_end: i64,
    },
    /// A transfer failed. A browser does not report the cause.
    Failed {
        /// Number of the transfer.
        request: u64,
    },
    /// Datagrams could not be sent.
    Unsent {
        /// Number of datagrams.
        count: u64,
    },
    /// The time of the last [`Effect::Wake`] is reached.
    Timeout {},
}

/// The page as it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Loaded {
    /// Stored strings of the tab.
    pub tab: Entries,
    /// Stored strings of the device.
    pub device: Entries,
    /// Fragment of the address, with `#`.
    pub hash: String,
    /// Host and port of the page.
    pub host: String,
    /// Host of the page, IPv6 in brackets.
    pub hostname: String,
    /// True if the page was loaded over HTTPS.
    pub secure: bool,
    /// The browser's description of itself.
    pub system: String,
    /// True in the background.
    pub hidden: bool,
    /// True if the browser has WebRTC.
    pub webrtc: bool,
    /// True if the browser can keep the screen on.
    pub wake_lock: bool,
    /// Resolution of the page's clock, in ns.
    pub resolution: u64,
    /// Unpredictable text.
    pub random: String,
}

/// Effect on the browser.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Effect {
    /// Open a WebSocket.
    Open {
        /// Number of the socket.
        socket: u64,
        /// Address.
        url: String,
    },
    /// Send a message, if the socket is open.
    Send {
        /// Number of the socket.
        socket: u64,
        /// The message.
        text: String,
    },
    /// Close a socket after its messages are sent.
    Close {
        /// Number of the socket.
        socket: u64,
    },
    /// Request a document.
    Get {
        /// Number of the request.
        get: u64,
        /// Address.
        url: String,
    },
    /// Abort such a request.
    Abort {
        /// Number of the request.
        get: u64,
    },
    /// Transfer an object.
    Begin {
        /// Number of the transfer.
        request: u64,
        /// Address.
        url: String,
        /// True for an upload.
        up: bool,
        /// Size of the object in bytes.
        size: u64,
        /// Fetch priority. It orders a browser's requests and does not set a DSCP.
        priority: &'static str,
    },
    /// Abort a transfer.
    Cancel {
        /// Number of the transfer.
        request: u64,
    },
    /// Create a connection with a data channel, and its offer.
    Connect {
        /// Number of the connection.
        connection: u64,
    },
    /// The server's answer to an offer.
    Answer {
        /// Number of the connection.
        connection: u64,
        /// Session description.
        sdp: String,
    },
    /// Close a connection.
    Disconnect {
        /// Number of the connection.
        connection: u64,
    },
    /// Store strings by key; the value `null` deletes a key.
    Store {
        /// Number of the write.
        number: u64,
        /// Strings of the tab.
        tab: BTreeMap<String, Option<String>>,
        /// Strings of the device.
        device: BTreeMap<String, Option<String>>,
    },
    /// Pass [`Input::Timeout`] at this time, and no more at another one.
    Wake {
        /// Time of the page's clock.
        at: i64,
    },
    /// Remove the key from the address.
    HideKey,
    /// Display.
    Show {
        /// The view.
        view: Box<View>,
    },
}
