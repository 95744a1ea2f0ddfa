using System;

namespace Example.Json
{
    /// <summary>Writes tokens.</summary>
    [Serializable]
    public partial class Writer<T> : Base, IDisposable where T : new()
    {
        public const int MaxDepth = 64;
        private readonly string _name = "";
        public string Name { get; set; }
        public event EventHandler Changed;

        public Writer(string name)
        {
            _name = name;
        }

        ~Writer() { }

        /// <summary>
        /// Writes a value.
        /// </summary>
        [Obsolete("old")]
        public override async Task<int> WriteAsync(T value, int depth = 0)
        {
            int Local(int x) => x;
            return Local(depth);
        }

        public static Writer<T> operator +(Writer<T> a, Writer<T> b) => a;

        public T this[int index] => default;

        public delegate void Handler(object sender);
    }

    public interface IWriter
    {
        void Flush();
    }

    public struct Point { public int X; }

    public enum State { Open, Closed }

    public record Person(string Name);

    public static class Extensions
    {
        public static int Twice(this int x) => x * 2;
    }
}
