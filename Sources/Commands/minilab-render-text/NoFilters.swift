import CMinilab

/// The filters of a program that draws texts: none. It reads no edit.
@c(minilab_filter_list)
func addFilters(to definitions: UnsafeMutableRawPointer) {}
