/// The luminance weights of every Core Image filter that could be measured, on linear RGB.
///
/// Found by fitting Core Image's own pixels; 0.2126, 0.7152, 0.0722 differ by less than 0.1 of 255.
enum Luminance {
    static let red = 0.2125
    static let green = 0.7154
    static let blue = 0.0721
}
