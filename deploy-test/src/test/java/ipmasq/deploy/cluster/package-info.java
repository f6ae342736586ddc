/**
 * A real Kubernetes of two nodes, from real binaries, in network namespaces of one machine:
 *
 * <pre>
 *   control 172.30.0.1            etcd, kube-apiserver, controller-manager, scheduler, kubectl
 *      |  a bridge
 *      +-- n1 172.30.0.11         containerd, kubelet, kube-proxy; pods in 10.244.1.0/24
 *      +-- n2 172.30.0.12         the same; pods in 10.244.2.0/24
 *      +-- outside 172.30.0.254   8.8.8.8, 10.1.2.3, 203.0.113.9: says from where packets came
 * </pre>
 *
 * <p>A node also has a mount namespace of its own, so that both find their files under the usual
 * paths and the machine's stay as they are. Everything goes when the cluster is closed: processes
 * by their ids, namespaces with their mounts, control groups, folders.
 */
package ipmasq.deploy.cluster;
