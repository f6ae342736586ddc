/**
 * The policy as a Windows node holds it: the exception lists of the OutBoundNAT policies in CNI
 * config files. The files are edited in place; nothing but the lists changes.
 */
@NullMarked
package ipmasq.cni;

import org.jspecify.annotations.NullMarked;
