import 'dart:async';

const maxCount = 10;
final String name = 'x';
int counter = 0;

typedef Handler = void Function(int value);

/// A widget.
///
/// More.
@immutable
abstract class Widget<T> extends Base implements Comparable<T> {
  static const int limit = 5;
  final String title;

  const Widget(this.title);

  Widget.named(String title) : title = title;

  factory Widget.create() => throw 'x';

  @override
  void build(Context context) {
    var local = 1;
    void inner() {}
  }

  int get size => 1;

  set size(int value) {}

  T load();
}

mixin Logger {
  void log(String m) => print(m);
}

enum Color { red, green }

extension StringX on String {
  String twice() => this + this;
}

Future<void> main(List<String> args) async {
  print('x');
}

int add(int a, int b) => a + b;
