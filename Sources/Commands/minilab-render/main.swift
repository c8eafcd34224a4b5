import Glibc
import RenderProtocol
import Rendering

exit(RenderChild.run().rawValue)
