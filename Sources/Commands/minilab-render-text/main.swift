import Glibc
import RenderProtocol
import TextChild

exit(TextChild.run().rawValue)
