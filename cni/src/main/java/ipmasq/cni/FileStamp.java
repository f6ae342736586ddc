package ipmasq.cni;

import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * What the file system says of a file without its being opened.
 *
 * @param key which file it is, not under which name; Windows has none
 */
record FileStamp(@Nullable Object key, FileTime modified, long size) {}
