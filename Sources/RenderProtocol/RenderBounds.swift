/// Bounds of a render child's process, for worker and child.
public enum RenderBounds {
    /// The most threads of a child. A render on eight cores, the most that one photo gets, has 20 (JPEG XL).
    public static let threadsMax = 64
}
