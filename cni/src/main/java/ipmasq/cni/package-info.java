/**
 * The policy as a Windows node holds it: the exception lists of the OutBoundNAT policies in CNI
 * config files. The files are edited in place, nothing but the lists changes. Uses {@code net},
 * {@code policy}, {@code plan}, {@code backend} and {@code json}.
 */
@NullMarked
package ipmasq.cni;

import org.jspecify.annotations.NullMarked;
