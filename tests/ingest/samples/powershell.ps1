param([string]$Path)

$Global:Limit = 10
$counter = 0

# Gets an item.
function Get-Item2 {
    param([string]$Name)
    $local = 1
    return $Name
}

filter Select-Even { if ($_ % 2 -eq 0) { $_ } }

class Person {
    [string]$Name

    Person([string]$name) {
        $this.Name = $name
    }

    [string] Greet() {
        return "hi"
    }
}

enum Color {
    Red
    Green
}
