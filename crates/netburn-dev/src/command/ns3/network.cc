// The network of a plan in ns-3: access points, their stations, a server behind a wire, and the flows between them. In a
// home the wire is the line of a router, which also has wired stations and a NAS.
// program.py compiles this in memory against the headers of the installed ns-3, fills in a Plan, and calls run().
// docs/reference/crosscheck.md gives the reason of each setting.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace crosscheck
{
using namespace ns3;

struct Flow
{
    int station;
    bool up;
    bool tcp;
    // Time between datagrams in ns. Each is sent at a random instant of its period.
    double period;
    // Bytes of a packet, IP header included.
    int length;
    // The other end is the NAS instead of the server.
    bool nas{false};
};

// The line of a router, and the cables at its ports.
struct Home
{
    // Access points, on different channels. 0: the plan has no router.
    int aps{0};
    // Rates of the line in bit/s, the queue at its ends, and what that holds: bytes of a FIFO, packets of FQ-CoDel.
    double down{0}, up{0};
    std::string queue, limitDown, limitUp;
    // Bytes that a wire adds to a packet.
    int framing{0};
    // Rate of a cable in bit/s; the FIFO of the router's port, the FQ-CoDel of the host, and the ring of its device in packets.
    double cable{0};
    std::string limitPort, limitHost;
    int ring{0};
};

struct Plan
{
    int seed;
    // Nanoseconds.
    double warmup;
    double duration;
    std::string standard;
    bool band2;
    int width;
    int guard;
    int streams;
    // By station: the ns-3 mode of its data frames.
    std::vector<std::string> modes;
    // The largest A-MPDU in bytes (0: no aggregation) and in MPDUs.
    int ampduBytes;
    int ampduFrames;
    int tries;
    // Bytes that encryption adds to a frame.
    int encryption;
    int cwMin;
    bool explicitBar;
    bool detectPreambles;
    // Packets that the queueing discipline holds, and the MAC's queue below it.
    std::string apQueue, stationQueue;
    int apLimit, stationLimit;
    int apFrames, stationFrames;
    double delay;
    double rate;
    std::string congestion;
    int segment;
    int probeLength;
    double probePeriod;
    std::vector<Flow> flows;
    Home home;
    // By station of a home: its access point, or -1 for a cable.
    std::vector<int> places;
};

struct Result
{
    // By flow: bytes of content after the warm-up.
    std::vector<double> bytes;
    // By station: round trips of its probes in ms, and how many probes it sent.
    std::vector<std::vector<double>> roundTrips;
    std::vector<int> probes;
    double ppdus{0}, mpdus{0}, failed{0};
    bool associated{true};
};

static Plan g_plan;
static Result g_result;

static bool
Counts(Time at)
{
    return at >= NanoSeconds(g_plan.warmup);
}

// One fixed rate for the data frames between the access point and a station, both ways.
class Rates : public WifiRemoteStationManager
{
  public:
    static std::map<Mac48Address, std::string>& Modes()
    {
        static std::map<Mac48Address, std::string> modes;
        return modes;
    }

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("crosscheck::Rates")
                                .SetParent<WifiRemoteStationManager>()
                                .AddConstructor<Rates>();
        return tid;
    }

    std::string mode;

  private:
    WifiRemoteStation* DoCreateStation() const override
    {
        return new WifiRemoteStation();
    }

    WifiTxVector DoGetDataTxVector(WifiRemoteStation* station, MHz_u allowed) override
    {
        auto known = Modes().find(GetAddress(station));
        WifiMode data(known == Modes().end() ? mode : known->second);
        auto kind = data.GetModulationClass();
        bool streams = kind >= WIFI_MOD_CLASS_HT;
        int nss = streams ? g_plan.streams : 1;
        MHz_u width = std::min(allowed, GetPhy()->GetChannelWidth());
        if (!streams)
        {
            width = (kind == WIFI_MOD_CLASS_DSSS || kind == WIFI_MOD_CLASS_HR_DSSS) ? 22 : 20;
        }
        Time guard = NanoSeconds(streams ? g_plan.guard : 800);
        return WifiTxVector(data,
                            GetDefaultTxPowerLevel(),
                            GetPreambleForTransmission(kind, GetShortPreambleEnabled()),
                            guard,
                            GetPhy()->GetNumberOfAntennas(),
                            nss,
                            0,
                            width,
                            GetAggregation(station));
    }

    WifiTxVector DoGetRtsTxVector(WifiRemoteStation* station) override
    {
        return WifiTxVector(GetPhy()->GetDefaultMode(),
                            GetDefaultTxPowerLevel(),
                            WIFI_PREAMBLE_LONG,
                            NanoSeconds(800),
                            1,
                            1,
                            0,
                            20,
                            false);
    }

    void DoReportRtsFailed(WifiRemoteStation*) override {}
    void DoReportDataFailed(WifiRemoteStation*) override {}
    void DoReportRtsOk(WifiRemoteStation*, double, WifiMode, double) override {}
    void DoReportDataOk(WifiRemoteStation*, double, WifiMode, double, MHz_u, uint8_t) override {}
    void DoReportFinalRtsFailed(WifiRemoteStation*) override {}
    void DoReportFinalDataFailed(WifiRemoteStation*) override {}
    void DoReportRxOk(WifiRemoteStation*, double, WifiMode) override {}
};

// ns-3 has no CCMP. Padding behind the packet has its length; the receiver's IP removes it.
static void
Encrypt(Ptr<const Packet> packet)
{
    const_cast<Packet*>(PeekPointer(packet))->AddPaddingAtEnd(g_plan.encryption);
}

// The framing of a wire, of which ns-3 has the two bytes of PPP.
static void
Frame(Ptr<const Packet> packet)
{
    const_cast<Packet*>(PeekPointer(packet))->AddPaddingAtEnd(g_plan.home.framing - 2);
}

static void
Begins(WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    for (const auto& [user, psdu] : psdus)
    {
        if (psdu->GetHeader(0).IsQosData() && psdu->GetHeader(0).HasData() && Counts(Simulator::Now()))
        {
            g_result.ppdus += 1;
            g_result.mpdus += psdu->GetNMpdus();
        }
    }
}

static void
NoAnswer(uint8_t, Ptr<const WifiPsdu>, const WifiTxVector&)
{
    g_result.failed += Counts(Simulator::Now());
}

// Sends datagrams, each at a random instant of its period.
struct Source
{
    Ptr<Socket> socket;
    double period;
    int content;
    Ptr<UniformRandomVariable> chance;
    double begins;

    void Schedule()
    {
        double at = begins + chance->GetValue(0, period);
        Simulator::Schedule(std::max(NanoSeconds(at) - Simulator::Now(), Time(0)), &Source::Send, this);
    }

    void Send()
    {
        socket->Send(Create<Packet>(content));
        begins += period;
        Schedule();
    }
};

static void
Received(int flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (Counts(Simulator::Now()))
        {
            g_result.bytes[flow] += packet->GetSize();
        }
    }
}

static void
Sunk(int flow, Ptr<const Packet> packet, const Address&)
{
    if (Counts(Simulator::Now()))
    {
        g_result.bytes[flow] += packet->GetSize();
    }
}

// Sends a datagram in each period, and measures the round trip of those that come back.
struct Probe
{
    int station;
    Ptr<Socket> socket;
    double period;
    int content;
    std::vector<Time> due;

    void Send()
    {
        uint32_t number = due.size();
        due.push_back(Simulator::Now());
        if (Counts(Simulator::Now()))
        {
            g_result.probes[station] += 1;
        }
        std::vector<uint8_t> bytes(content, 0);
        std::copy_n(reinterpret_cast<uint8_t*>(&number), sizeof number, bytes.begin());
        socket->Send(Create<Packet>(bytes.data(), bytes.size()));
        Simulator::Schedule(NanoSeconds(period), &Probe::Send, this);
    }

    void Receive(Ptr<Socket> from)
    {
        while (Ptr<Packet> packet = from->Recv())
        {
            uint32_t number = 0;
            packet->CopyData(reinterpret_cast<uint8_t*>(&number), sizeof number);
            if (Counts(due[number]))
            {
                g_result.roundTrips[station].push_back((Simulator::Now() - due[number]).GetNanoSeconds() / 1e6);
            }
        }
    }
};

static void
Reflect(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        packet->RemoveAllPacketTags();
        packet->RemoveAllByteTags();
        socket->SendTo(packet, 0, from);
    }
}

static void
Discipline(Ptr<NetDevice> device, const std::string& kind, const std::string& limit)
{
    TrafficControlHelper control;
    if (kind == "fifo")
    {
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(limit));
    }
    else
    {
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc",
                                 "MaxSize", StringValue(limit),
                                 "UseEcn", BooleanValue(false),
                                 "Target", StringValue("5ms"),
                                 "Interval", StringValue("100ms"),
                                 "Flows", UintegerValue(1024),
                                 "DropBatchSize", UintegerValue(64));
    }
    QueueDiscContainer queues = control.Install(device);
    if (kind != "fifo")
    {
        DynamicCast<FqCoDelQueueDisc>(queues.Get(0))->SetQuantum(1514);
    }
}

// A discipline above a radio, whose MAC holds this many frames.
static void
Queue(Ptr<NetDevice> device, const std::string& kind, int limit, int frames)
{
    // An address comes with the default discipline.
    TrafficControlHelper().Uninstall(device);
    Discipline(device, kind, std::to_string(limit) + "p");
    auto wifi = DynamicCast<WifiNetDevice>(device);
    wifi->GetMac()->GetTxopQueue(AC_BE)->SetMaxSize(QueueSize(std::to_string(frames) + "p"));
}

static void
Stop(Ptr<NetDeviceQueue> queue, Ptr<const Packet>)
{
    queue->Stop();
}

static void
Wake(Ptr<NetDeviceQueue> queue, Ptr<const Packet>)
{
    // Not from within the device, which still handles the end of the transmission.
    Simulator::ScheduleNow(&NetDeviceQueue::Wake, queue);
}

// A wire with rates in both directions in bit/s and a delay in ns. Neither device stops the layer above.
static NetDeviceContainer
Wire(Ptr<Node> one, Ptr<Node> other, double to, double back, double delay)
{
    PointToPointHelper wire;
    wire.DisableFlowControl();
    wire.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    NetDeviceContainer ends = wire.Install(one, other);
    ends.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(to)));
    ends.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(back)));
    return ends;
}

// Adds the framing of a wire to what a device sends, and a discipline above it. With a ring, the device holds that many
// packets below the discipline. Without one, it takes a packet only when it is idle.
static void
Queue(Ptr<NetDevice> device, const std::string& kind, const std::string& limit, int ring)
{
    auto wired = DynamicCast<PointToPointNetDevice>(device);
    wired->TraceConnectWithoutContext("MacTx", MakeCallback(&Frame));
    auto layer = CreateObject<NetDeviceQueueInterface>();
    wired->AggregateObject(layer);
    auto queue = layer->GetTxQueue(0);
    if (ring > 0)
    {
        wired->GetQueue()->SetMaxSize(QueueSize(std::to_string(ring) + "p"));
        queue->ConnectQueueTraces(wired->GetQueue());
    }
    else
    {
        wired->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Stop, queue));
        wired->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&Wake, queue));
    }
    Discipline(device, kind, limit);
}

static Result
run(const Plan& plan)
{
    g_plan = plan;
    g_result = Result();
    g_result.bytes.assign(plan.flows.size(), 0);
    g_result.roundTrips.assign(plan.modes.size(), {});
    g_result.probes.assign(plan.modes.size(), 0);
    Rates::Modes().clear();
    Rates::GetTypeId();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(plan.seed);
    int stations = plan.modes.size();

    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(plan.tries));
    Config::SetDefault("ns3::WifiRemoteStationManager::IncrementRetryCountUnderBa", BooleanValue(true));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(plan.explicitBar));
    Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(std::max(plan.ampduFrames, 1)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(plan.congestion));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(plan.segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::UdpSocket::RcvBufSize", UintegerValue(64 << 20));

    const Home& home = plan.home;
    bool hasRouter = home.aps > 0;
    int aps = std::max(home.aps, 1);
    NodeContainer nodes(stations + 2);
    Ptr<Node> server = nodes.Get(0);
    std::vector<Ptr<Node>> ap{nodes.Get(1)};
    NodeContainer others;
    std::vector<int> places = plan.places;
    places.resize(stations, 0);
    for (int i = 0; i < stations; i++)
    {
        others.Add(nodes.Get(i + 2));
    }
    Ptr<Node> router, nas;
    if (hasRouter)
    {
        router = CreateObject<Node>();
        nas = CreateObject<Node>();
        nodes.Add(router);
        nodes.Add(nas);
    }
    while (int(ap.size()) < aps)
    {
        ap.push_back(CreateObject<Node>());
        nodes.Add(ap.back());
    }

    YansWifiChannelHelper channels;
    channels.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channels.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-30));
    YansWifiPhyHelper phy;
    phy.Set("Antennas", UintegerValue(plan.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(plan.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(plan.streams));
    phy.Set("ChannelSettings",
            StringValue("{0, " + std::to_string(plan.width) + ", " + (plan.band2 ? "BAND_2_4GHZ" : "BAND_5GHZ") + ", 0}"));
    if (!plan.detectPreambles)
    {
        phy.DisablePreambleDetectionModel();
    }
    WifiHelper wifi;
    static const std::map<std::string, WifiStandard> standards{
        {"802.11a", WIFI_STANDARD_80211a},   {"802.11b", WIFI_STANDARD_80211b},   {"802.11g", WIFI_STANDARD_80211g},
        {"802.11n", WIFI_STANDARD_80211n}, {"802.11ac", WIFI_STANDARD_80211ac}, {"802.11ax", WIFI_STANDARD_80211ax}};
    wifi.SetStandard(standards.at(plan.standard));
    wifi.SetRemoteStationManager("crosscheck::Rates");
    wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(plan.guard == 400));
    if (plan.guard >= 800)
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(plan.guard)));
    }

    // By access point, and by station: their Wi-Fi devices. A wired station has none.
    NetDeviceContainer apDevices;
    std::vector<Ptr<WifiNetDevice>> devices(stations);
    for (int a = 0; a < aps; a++)
    {
        phy.SetChannel(channels.Create());
        WifiMacHelper mac;
        Ssid ssid(hasRouter ? "crosscheck" + std::to_string(a) : "crosscheck");
        mac.SetType("ns3::ApWifiMac",
                    "Ssid", SsidValue(ssid),
                    "QosSupported", BooleanValue(true),
                    "BE_MaxAmpduSize", UintegerValue(plan.ampduBytes),
                    "BeaconInterval", TimeValue(MicroSeconds(1024 * 1000)));
        apDevices.Add(wifi.Install(phy, mac, ap[a]));
        mac.SetType("ns3::StaWifiMac",
                    "Ssid", SsidValue(ssid),
                    "QosSupported", BooleanValue(true),
                    "BE_MaxAmpduSize", UintegerValue(plan.ampduBytes),
                    "MaxMissedBeacons", UintegerValue(1000),
                    "AssocRequestTimeout", TimeValue(MilliSeconds(100)),
                    "WaitBeaconTimeout", TimeValue(Seconds(3)));
        for (int i = 0; i < stations; i++)
        {
            if (places[i] == a)
            {
                devices[i] = DynamicCast<WifiNetDevice>(wifi.Install(phy, mac, others.Get(i)).Get(0));
            }
        }
    }

    MobilityHelper mobility;
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (int i = 0; i < stations; i++)
    {
        double angle = 2 * M_PI * i / stations;
        positions->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    // A second access point, which is on a channel of its own.
    positions->Add(Vector(0, 0, 0));
    mobility.SetPositionAllocator(positions);
    mobility.Install(ap[0]);
    mobility.Install(others);
    for (int a = 1; a < aps; a++)
    {
        mobility.Install(ap[a]);
    }

    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.0.0", "255.255.255.0");
    // Addresses of the server, of the NAS, and by station.
    Ipv4Address serverAt, nasAt;
    std::vector<Ipv4Address> at(stations);
    // Access points have a wire that is never full: to the server, or to the router.
    auto unlimited = [&](Ptr<Node> one, Ptr<Node> other, double delay) {
        auto assigned = addresses.Assign(Wire(one, other, plan.rate, plan.rate, delay));
        addresses.NewNetwork();
        return assigned.GetAddress(0);
    };
    auto cable = [&](Ptr<Node> host) {
        NetDeviceContainer ends = Wire(host, router, home.cable, home.cable, 0);
        auto assigned = addresses.Assign(ends);
        addresses.NewNetwork();
        Queue(ends.Get(0), "fq-codel", home.limitHost, home.ring);
        Queue(ends.Get(1), "fifo", home.limitPort, 0);
        return assigned.GetAddress(0);
    };
    if (hasRouter)
    {
        NetDeviceContainer line = Wire(server, router, home.down, home.up, plan.delay);
        serverAt = addresses.Assign(line).GetAddress(0);
        addresses.NewNetwork();
        Queue(line.Get(0), home.queue, home.limitDown, 0);
        Queue(line.Get(1), home.queue, home.limitUp, 0);
        nasAt = cable(nas);
        for (int a = 0; a < aps; a++)
        {
            unlimited(router, ap[a], 0);
        }
    }
    else
    {
        serverAt = unlimited(server, ap[0], plan.delay);
    }
    for (int i = 0; i < stations; i++)
    {
        if (places[i] < 0)
        {
            at[i] = cable(others.Get(i));
        }
    }
    addresses.SetBase("10.2.0.0", "255.255.255.0");
    for (int a = 0; a < aps; a++)
    {
        addresses.Assign(NetDeviceContainer(apDevices.Get(a)));
        for (int i = 0; i < stations; i++)
        {
            if (places[i] == a)
            {
                at[i] = addresses.Assign(NetDeviceContainer(devices[i])).GetAddress(0);
            }
        }
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();

    std::vector<Ptr<WifiNetDevice>> radios;
    for (int a = 0; a < aps; a++)
    {
        Queue(apDevices.Get(a), plan.apQueue, plan.apLimit, plan.apFrames);
        radios.push_back(DynamicCast<WifiNetDevice>(apDevices.Get(a)));
    }
    for (int i = 0; i < stations; i++)
    {
        auto device = devices[i];
        if (!device)
        {
            continue;
        }
        radios.push_back(device);
        Queue(device, plan.stationQueue, plan.stationLimit, plan.stationFrames);
        Rates::Modes()[device->GetMac()->GetAddress()] = plan.modes[i];
        DynamicCast<Rates>(device->GetRemoteStationManager())->mode = plan.modes[i];
    }
    for (auto& device : radios)
    {
        auto mac = device->GetMac();
        auto txop = mac->GetQosTxop(AC_BE);
        txop->SetMinCw(plan.cwMin);
        txop->SetMaxCw(1023);
        txop->SetAifsn(3);
        txop->SetTxopLimit(Time(0));
        if (plan.encryption > 0)
        {
            mac->TraceConnectWithoutContext("MacTx", MakeCallback(&Encrypt));
        }
        mac->TraceConnectWithoutContext("PsduResponseTimeout", MakeCallback(&NoAnswer));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Begins));
    }

    auto chance = CreateObject<UniformRandomVariable>();
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<std::unique_ptr<Probe>> probes;
    for (size_t f = 0; f < plan.flows.size(); f++)
    {
        const Flow& flow = plan.flows[f];
        Ptr<Node> far = flow.nas ? nas : server;
        Ptr<Node> from = flow.up ? others.Get(flow.station) : far;
        Ptr<Node> to = flow.up ? far : others.Get(flow.station);
        Ipv4Address farAt = flow.nas ? nasAt : serverAt;
        InetSocketAddress where(flow.up ? farAt : at[flow.station], 5000 + f);
        Time start = MilliSeconds(4000);
        if (flow.tcp)
        {
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000 + f));
            auto sinks = sink.Install(to);
            sinks.Start(Seconds(0));
            sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Sunk, int(f)));
            BulkSendHelper bulk("ns3::TcpSocketFactory", where);
            bulk.SetAttribute("SendSize", UintegerValue(64 * plan.segment));
            auto bulks = bulk.Install(from);
            bulks.Start(start);
        }
        else
        {
            auto receiver = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
            receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000 + f));
            receiver->SetRecvCallback(MakeBoundCallback(&Received, int(f)));
            auto source = std::make_unique<Source>();
            source->socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
            source->socket->Connect(where);
            source->period = flow.period;
            source->content = flow.length - 28;
            source->chance = chance;
            source->begins = start.GetNanoSeconds();
            source->Schedule();
            sources.push_back(std::move(source));
        }
    }
    if (plan.probePeriod > 0)
    {
        auto mirror = Socket::CreateSocket(server, UdpSocketFactory::GetTypeId());
        mirror->Bind(InetSocketAddress(Ipv4Address::GetAny(), 7));
        mirror->SetRecvCallback(MakeCallback(&Reflect));
        for (int i = 0; i < stations; i++)
        {
            auto probe = std::make_unique<Probe>();
            probe->station = i;
            probe->socket = Socket::CreateSocket(others.Get(i), UdpSocketFactory::GetTypeId());
            probe->socket->Bind();
            probe->socket->Connect(InetSocketAddress(serverAt, 7));
            probe->socket->SetRecvCallback(MakeCallback(&Probe::Receive, probe.get()));
            probe->period = plan.probePeriod;
            probe->content = plan.probeLength - 28;
            Time first = Seconds(4) + NanoSeconds(chance->GetValue(0, plan.probePeriod));
            Simulator::Schedule(first, &Probe::Send, probe.get());
            probes.push_back(std::move(probe));
        }
    }
    g_plan.warmup += 4e9;
    Simulator::Stop(NanoSeconds(4e9 + plan.duration));
    Simulator::Run();
    for (int i = 0; i < stations; i++)
    {
        auto mac = devices[i] ? DynamicCast<StaWifiMac>(devices[i]->GetMac()) : nullptr;
        g_result.associated = g_result.associated && (!mac || mac->IsAssociated());
    }
    for (auto& probe : probes)
    {
        probe->socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        probe->socket = nullptr;
    }
    for (auto& source : sources)
    {
        source->socket = nullptr;
    }
    Simulator::Destroy();
    return g_result;
}
} // namespace crosscheck
