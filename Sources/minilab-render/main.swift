import Glibc
import RenderProtocol
import Rendering

exit(RenderChild.run(arguments: Array(CommandLine.arguments.dropFirst())).rawValue)
