/** The backend for Windows nodes: exception lists in CNI configs. Plain Java, and plain files. */
module ipmasq.cni {
  requires transitive ipmasq.core;
  requires static org.jspecify;

  exports ipmasq.cni;
}
