// Guided stories. A step opens a scenario or changes keys of the present one, and says what to look at.

const DOCS = "docs/explanation/case-studies";

export const STORIES = [
  {
    id: "slow-neighbour", title: "The slow neighbour", page: `${DOCS}/2-slow-neighbour.md`,
    steps: [
      { scenario: "slow-neighbour", text: "A tablet far away downloads while a laptop nearby loads pages. The laptop's signal is good, but its pages are late, because the tablet's slow transmissions fill the air and its packets fill the queue." },
      { set: { "ap.home.queue": "airtime" }, text: "Now the access point has a queue for each device and shares airtime. The pages are in time again, and the tablet downloads as fast as before." },
    ],
  },
  {
    id: "bufferbloat", title: "Bufferbloat and SQM",
    steps: [
      { scenario: "evening-at-home", text: "A backup fills the uplink of the internet line. The call and the game wait behind its packets in the queue of the line, which is called bufferbloat." },
      { set: { "ap.home.wan.discipline": "cake", "ap.home.wan.shaper": "90 %" }, text: "SQM in the router keeps the queue of the line empty and gives each device its share. The call and the game are good, and the backup is a little slower." },
    ],
  },
  {
    id: "one-ssid-or-two", title: "One name or two", page: `${DOCS}/1-one-name-or-two.md`,
    steps: [
      { scenario: "archer-c7-one-ssid", text: "An access point has one name for both bands, and all four devices joined 5 GHz. The download takes most of the air, so pages and the call suffer." },
      { scenario: "archer-c7-split", text: "With a name for each band, people chose: the download stays on 5 GHz with the film, and the others use a band of their own. Every goal is met." },
    ],
  },
  {
    id: "boosting", title: "Boosting one device", page: `${DOCS}/3-boost.md`,
    steps: [
      { scenario: "boost", text: "A film has priority over three downloads, and it plays. The access point has one queue for each priority." },
      { set: { "workload.film.priority": "best-effort" }, text: "Without priority the film waits behind the downloads and stalls." },
      { set: { "ap.home.queue": "airtime" }, text: "With a fair share of the air for each device, the film plays without priority, and two of the downloads are faster than before." },
    ],
  },
  {
    id: "penalty-box", title: "The penalty box", page: `${DOCS}/4-penalty-box.md`,
    steps: [
      { scenario: "penalty-box", text: "Two slow devices have a radio of their own, so that they cannot delay the fast ones. Everything works, but it takes a second radio and a second channel." },
      { set: { "station.slow-1.joins": "home.5g", "station.slow-2.joins": "home.5g" }, text: "All devices are on one radio now. With airtime fairness every goal is still met, so the penalty box is not needed." },
    ],
  },
  {
    id: "small-queues", title: "Small queues and aggregation", page: `${DOCS}/5-small-queues.md`,
    steps: [
      { scenario: "small-queues-usb", text: "A sender with a kernel of 2015 may queue little below TCP. A USB dongle then sends few packets in each transmission, and gets 49 Mbit/s: look at the number of frames." },
      { set: { "station.dongle.tsq": "2019" }, text: "Kernels since 2019 allow more packets for Wi-Fi. The transmissions are longer, and the upload is nearly twice as fast." },
    ],
  },
  {
    id: "a-walk", title: "802.11k, v and r on a walk", page: `${DOCS}/8-does-802-11kvr-help.md`,
    steps: [
      { scenario: "walk-with-a-call", text: "A person walks upstairs with a call. The phone scans all channels before it moves to the other access point, so the call has gaps." },
      { set: { "network.home.k": "true", "network.home.r": "true" }, text: "With 802.11k the phone scans only the channels of this network, and with 802.11r it joins with four frames. The call has no gap that a person hears." },
    ],
  },
  {
    id: "mesh", title: "What a mesh hop costs", page: `${DOCS}/10-what-does-a-mesh-cost.md`,
    steps: [
      { scenario: "three-unit-house", text: "A mesh kit of three units serves a house. The units and the devices share one channel, so a packet for another room takes the air twice." },
      { set: { "kit.home.backhaul": "dedicated" }, text: "A second 5 GHz radio in each unit carries the traffic between them, and the downloads are faster." },
      { set: { "kit.home.backhaul": "wired" }, text: "A wire between the units doubles the downloads again. It is worth more than a third unit." },
    ],
  },
];
