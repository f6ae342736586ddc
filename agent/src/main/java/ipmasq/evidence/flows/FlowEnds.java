package ipmasq.evidence.flows;

import ipmasq.net.Ip;

/**
 * What routing may look at in a packet.
 *
 * @param protocol the number of the transport protocol; 0: unknown
 * @param port where it goes; 0: unknown
 */
public record FlowEnds(Ip from, Ip to, int protocol, int port) {}
