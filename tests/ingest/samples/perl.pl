package My::Module;
use strict;

our $VERSION = '1.0';
my $counter = 0;
use constant LIMIT => 10;

# Makes one.
sub new {
    my ($class, %args) = @_;
    return bless {}, $class;
}

sub _private { return 1 }

package My::Other {
    sub run {
        my $x = 1;
    }
}

1;
