#import <Foundation/Foundation.h>

#define kLimit 10

typedef NSString *Name;

@protocol Drawable <NSObject>
- (void)draw;
@end

/// A view.
@interface View : NSObject <Drawable>
@property (nonatomic, strong) NSString *title;
- (instancetype)initWithTitle:(NSString *)title size:(int)size;
+ (View *)shared;
@end

@implementation View
- (instancetype)initWithTitle:(NSString *)title size:(int)size {
    int local = 1;
    return self;
}

+ (View *)shared {
    return nil;
}

- (void)draw {
}
@end

static int helper(int a) {
    return a;
}
